import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Api } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { until } from '../support/until.js';

/* Where the centre goes on the word of others: pushes to agents, callbacks to callers. */

/** The one address that may be connected to; the rest of the machine may not. */
const ALLOWED = '127.0.0.2';
const env = { REACH_OUTBOUND_LOOPBACK: 'deny', REACH_OUTBOUND_ALLOW: ALLOWED };
const DENIED = /localhost \((127\.0\.0\.1|::1)\) must not be connected to: it is this machine/;

inBothModes('connections on the word of others', (mode) => {
  const centre = Centre.ofSuite(mode, { env });
  let api: Api;
  let server: Server;
  let asked: string[];

  beforeEach(async () => {
    api = centre.api();
    asked = [];
    // On every address of this machine, so that a name leads there by whichever the centre would take.
    server = createServer((request, response) => {
      request.resume();
      asked.push(request.url ?? '');
      if (request.url === '/moved') response.writeHead(307, { location: '/inside' }).end();
      else response.end('{"ack":true}');
    }).listen(0);
    await once(server, 'listening');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const at = (host: string, path: string) =>
    `http://${host}:${(server.address() as AddressInfo).port}${path}`;
  /** The warning about the callback of a task, in the log of whoever tried. */
  const callbackWarning = async (id: string): Promise<string> => {
    let found: string | undefined;
    await until('a callback that failed', () => {
      const lines = centre.dispatchers.flatMap((d) => d.log);
      found = lines.find((l) => l['task_id'] === id && /^callback of task/.test(l.msg ?? ''))?.msg;
      return found !== undefined;
    });
    return found as string;
  };
  const withCallback = (callback_url: string) =>
    api.submit({ capability: 'nobody-has-this', expires_in_ms: 1, callback_url });

  test('an allowed address is pushed to and called', async () => {
    const agent = await api.agent('p1', { transport: 'push', endpoint: at(ALLOWED, '/push') });
    const id = await api.submit({ capability: 'work', callback_url: at(ALLOWED, '/done') });
    await api.reached(id, 'running');
    await agent.complete(`${id}.1`);
    await until('pushed and called', () => asked.includes('/push') && asked.includes('/done'));
  });

  test('an endpoint whose name resolves to a denied one gets nothing, and the task is told why', async () => {
    await api.agent('p1', { transport: 'push', endpoint: at('localhost', '/push') });
    const id = await api.submit({ capability: 'work', max_attempts: 2 });
    // Nothing was sent, so even a task that is not idempotent is tried again.
    expect(await api.ended(id)).toMatchObject({
      state: 'failed',
      attempt: 2,
      error: { code: 'REACH_CONNECTION_FAILED', message: expect.stringMatching(DENIED) },
    });
    expect(await api.attributions(id)).toMatchObject([
      { evidence: { work: 'never_started' } },
      { evidence: { work: 'never_started' } },
    ]);
    expect(asked).toEqual([]);
  });

  test('a callback whose name resolves to a denied one is not made', async () => {
    expect(await callbackWarning(await withCallback(at('localhost', '/done')))).toMatch(DENIED);
    expect(asked).toEqual([]);
  });

  test('redirects are not followed', async () => {
    await api.agent('p1', { transport: 'push', endpoint: at(ALLOWED, '/moved') });
    const id = await api.submit({ capability: 'work', max_attempts: 1 });
    expect((await api.ended(id)).error.message).toMatch(/HTTP 307: redirects are not followed;/);
    const called = await callbackWarning(await withCallback(at(ALLOWED, '/moved')));
    expect(called).toMatch(/HTTP 307: redirects are not followed$/);
    expect(asked).not.toContain('/inside');
  });
});
