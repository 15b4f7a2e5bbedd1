import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { createProgram } from '../program.js';
import { UsageError } from '../usage-error.js';

/* What commands say, against a centre that answers what the test wants. */

let server: Server;
let url: string;
let answer: unknown;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Runs a command in this process; gives what it printed. */
async function reach(...args: string[]): Promise<string> {
  const { stdout } = process;
  const write = stdout.write.bind(stdout);
  let out = '';
  stdout.write = (text: string | Uint8Array): boolean => {
    out += String(text);
    return true;
  };
  try {
    await createProgram().parseAsync([...args, '--url', url], { from: 'user' });
    return out;
  } finally {
    stdout.write = write;
  }
}

const capability = (more: object) => ({ capability: 'text.shout', agents: 1, reachable: 1, ...more });

it('says that a capability is paused, and why, and that it is resumed', async () => {
  answer = capability({ paused: true, pause_reason: 'the printer burns' });
  expect(await reach('pause', 'text.shout', '-r', 'x')).toBe('text.shout is paused: the printer burns\n');
  answer = capability({ paused: true, pause_reason: '' });
  expect(await reach('pause', 'text.shout')).toBe('text.shout is paused\n');
  answer = capability({ paused: false });
  expect(await reach('resume', 'text.shout')).toBe('text.shout is resumed\n');
});

it.each([
  ['task', 'nope'],
  ['why', 'nope'],
  ['cancel', 'nope'],
  ['retry', 'nope'],
  ['attributions', '--task', 'nope'],
])('knows what is no task id: %s %s %s', async (...args) => {
  const asked = reach(...args);
  await expect(asked).rejects.toBeInstanceOf(UsageError);
  await expect(asked).rejects.toThrow('"nope" is not a task id');
});

it('takes several task ids', async () => {
  const id = (n: number) => `01a229bb-ed88-70e3-a783-bd40b56fcf9${n}`;
  answer = { task_id: id(1), state: 'canceled', canceled: true };
  const line = `${id(1)} canceled\n`;
  expect(await reach('cancel', id(1), id(2), id(3))).toBe(line.repeat(3));
});
