import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import { until } from '../support/until.js';

/*
 * The built server as a process of its own: it is what the image runs as PID 1.
 */

const MAIN = join(import.meta.dirname, '../../dist/main.js');
const running: ChildProcess[] = [];
let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'reach-shutdown-'));
});
afterEach(() => running.splice(0).forEach((child) => child.kill('SIGKILL')));
afterAll(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

function start(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      REACH_HTTP_PORT: '0',
      REACH_DATA_DIR: dataDir,
      REACH_LOG_FORMAT: 'json',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  return child;
}

/** Where the child listens; its later output is read and dropped. */
async function urlOf(child: ReturnType<typeof start>): Promise<string> {
  const lines = createInterface(child.stdout);
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const entry = JSON.parse(line) as { msg: string; url?: string };
      if (entry.msg === 'listening' && entry.url) resolve(entry.url);
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code} before it listened`)));
  });
  return url;
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends the process with exit code 0, a second one is harmless',
  async (signal) => {
    const child = start();
    const url = await urlOf(child);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    child.kill(signal);
    child.kill(signal);
    const [code, by] = (await once(child, 'exit')) as [number | null, string | null];
    expect({ code, by }).toEqual({ code: 0, by: null });
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
  },
  60_000,
);

test('a request that never ends does not hold the process', async () => {
  const child = start({ REACH_SHUTDOWN_GRACE_MS: '3000' });
  const url = await urlOf(child);
  const half = request(`${url}/api/v1/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': 1000 },
  });
  half.on('error', () => undefined);
  half.write('{');
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  const began = performance.now();
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  half.destroy();
  expect(code).toBe(0);
  expect(performance.now() - began).toBeLessThan(4000);
}, 60_000);

test('a connection that was busy when the listener closed is not kept alive', async () => {
  const child = start({ REACH_SHUTDOWN_GRACE_MS: '60000' });
  const url = await urlOf(child);
  const ended = once(child, 'exit');
  const body = JSON.stringify({ capability: 'c', payload: 1 });
  const busy = request(`${url}/api/v1/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': body.length },
    agent: new Agent({ keepAlive: true }),
  });
  busy.write(body.slice(0, 1));
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  child.kill('SIGTERM');
  await until('the listener is closed', () =>
    fetch(`${url}/livez`).then(
      () => false,
      () => true,
    ),
  );
  const answered = once(busy, 'response') as Promise<[IncomingMessage]>;
  busy.end(body.slice(1));
  const [answer] = await answered;
  answer.resume();
  const began = performance.now();
  expect(await ended).toEqual([0, null]);
  // What is not closed by itself is cut only near the end of the grace time.
  expect(performance.now() - began).toBeLessThan(20_000);
}, 120_000);

test('a session that is half open does not hold the process', async () => {
  const child = start({ REACH_SHUTDOWN_GRACE_MS: '8000' });
  const url = await urlOf(child);
  const session = new WebSocket(`${url.replace(/^http/, 'ws')}/api/v1/session`);
  session.on('error', () => undefined);
  await once(session, 'open');
  // It hears nothing any more, and so answers no farewell.
  session.pause();
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  session.terminate();
  expect(code).toBe(0);
}, 60_000);

test('a wrong configuration ends with exit code 2 and every problem', async () => {
  const child = start({ REACH_HTTP_PORT: 'x', REACH_INBOX_LMIT: '1' });
  let text = '';
  child.stderr.on('data', (data: Buffer) => (text += data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code).toBe(2);
  expect(text).toContain('REACH_HTTP_PORT must be a whole number');
  expect(text).toContain('did you mean REACH_INBOX_LIMIT?');
});

test('a port that is taken ends with exit code 1', async () => {
  const { port } = new URL(await urlOf(start()));
  const otherDir = await mkdtemp(join(tmpdir(), 'reach-shutdown-'));
  const second = start({ REACH_HTTP_PORT: port, REACH_DATA_DIR: otherDir });
  second.stdout.resume();
  const [code] = (await once(second, 'exit')) as [number | null];
  await rm(otherDir, { recursive: true, force: true });
  expect(code).toBe(1);
}, 60_000);
