import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { until } from '../support/until.js';

const SECRET = Buffer.from('a secret of twenty-four');

interface Call {
  headers: IncomingHttpHeaders;
  body: string;
  event: Json;
}

inBothModes('callbacks', (mode) => {
  const centre = Centre.ofSuite(mode, {
    env: { REACH_WEBHOOK_SECRETS: `whsec_${SECRET.toString('base64')}` },
  });
  let api: Api;
  const servers: Server[] = [];

  beforeEach(() => {
    api = centre.api();
  });
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function listen(answer: RequestListener): Promise<string> {
    const server = createServer(answer).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/done?x=1`;
  }

  /** A caller that keeps what it is told, and answers with the next of `statuses`, then with 204. */
  async function caller(...statuses: number[]): Promise<{ url: string; calls: Call[] }> {
    const calls: Call[] = [];
    const url = await listen((request, response) => {
      void text(request).then((body) => {
        calls.push({ headers: request.headers, body, event: JSON.parse(body) });
        response.writeHead(statuses.shift() ?? 204).end();
      });
    });
    return { url, calls };
  }

  /** Submits tasks that end at once, by expiring. */
  const short = (callback_url: string, count = 1) =>
    api.post('tasks/batch', {
      tasks: Array.from({ length: count }, () => ({
        namespace: api.namespace,
        capability: 'nobody-has-this',
        expires_in_ms: 1,
        callback_url,
      })),
    });

  test('the end of a task is told, signed, once', async () => {
    const { url, calls } = await caller();
    const agent = await api.agent('a1');
    const id = await api.submit({ capability: 'work', callback_url: url });
    await agent.work({ answer: 42 });
    await until('a call', () => calls.length > 0);
    const { headers, body, event } = calls[0] as Call;
    expect(event).toMatchObject({ id, type: 'dev.agentreach.task.succeeded.v1' });
    expect(event.data).toMatchObject({ task_id: id, agent_id: 'a1', result: { answer: 42 } });
    const signed = `${id}.${headers['webhook-timestamp'] as string}.${body}`;
    const signature = createHmac('sha256', SECRET).update(signed).digest('base64');
    expect(headers).toMatchObject({ 'webhook-id': id, 'webhook-signature': `v1,${signature}` });
    // Another one that comes later tells that the first did not come again.
    await short(url);
    await until('the other call', () => calls.length > 1);
    expect(calls.filter((c) => c.event.id === id)).toHaveLength(1);
  });

  test('an answer that is none is asked for again', async () => {
    const { url, calls } = await caller(500);
    await short(url);
    await until('a second call', () => calls.length === 2, 20_000);
    expect(calls[0]?.headers['webhook-id']).toBe(calls[1]?.headers['webhook-id']);
  });

  test('a host that hangs holds up nobody else, and gets a few at a time', async () => {
    let hanging = 0;
    const silent = await listen(() => hanging++);
    await short(silent, 300);
    await until('calls that hang', () => hanging > 0);
    const { url, calls } = await caller();
    const before = performance.now();
    await short(url, 20);
    await until('20 calls', () => calls.length === 20);
    // Well within the time that a call may hang.
    expect(performance.now() - before).toBeLessThan(8000);
    // The limit may be passed by what was taken in one go.
    expect(hanging).toBeLessThanOrEqual(2 * 32 * centre.dispatchers.length);
  });
});
