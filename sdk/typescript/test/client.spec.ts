import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { Client } from '../src/client.js';
import { ReachApiError, ReachConnectionError, ReachTaskError, ReachTimeoutError } from '../src/errors.js';

interface Request {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}
type Respond = (request: Request, response: ServerResponse, n: number) => void;

let server: Server;
let url: string;
/** Nobody listens there. */
let away: string;
let requests: Request[];
let respond: Respond;

async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  const at = new URL(incoming.url ?? '', 'http://x');
  const request = {
    method: incoming.method ?? '',
    path: at.pathname.replace('/api/v1/', ''),
    query: at.searchParams,
    headers: incoming.headers,
    body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
  };
  requests.push(request);
  respond(request, response, requests.length);
}

beforeAll(async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  away = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  await new Promise((resolve) => other.close(resolve));
});
beforeEach(async () => {
  requests = [];
  server = createServer((q, s) => void serve(q, s));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
});

const reply = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const problem = (status: number, code: string, retryable: boolean) => ({
  type: 'about:blank',
  title: code,
  status,
  code,
  retryable,
  detail: `${code} happened`,
  trace_id: 'abc',
  errors: [{ pointer: '/payload', detail: 'bad' }],
});

it('repeats an enqueue under one key, and honours Retry-After', async () => {
  respond = (_request, response, n) => {
    if (n === 1) return void response.socket?.destroy();
    if (n === 2)
      return void reply(response, 429, problem(429, 'REACH_QUEUE_FULL', true), { 'retry-after': '0' });
    reply(response, 202, { task_id: 't', state: 'queued', deduplicated: false });
  };
  const client = new Client({ url, namespace: 'n', token: 'secret' });
  await client.enqueue({ capability: 'a.b', payload: 1 }, { traceparent: '00-1-1-01' });
  expect(requests).toHaveLength(3);
  const keys = new Set(requests.map((r) => r.headers['idempotency-key']));
  expect(keys.size).toBe(1);
  expect(requests[2]?.body).toEqual({ namespace: 'n', capability: 'a.b', payload: 1 });
  expect(requests[2]?.headers).toMatchObject({ authorization: 'Bearer secret', traceparent: '00-1-1-01' });
});

it('gives each task of a batch a key that stays the same when it is repeated', async () => {
  respond = (_request, response, n) =>
    void (n === 1
      ? reply(response, 503, problem(503, 'REACH_UNAVAILABLE', true))
      : reply(response, 202, { results: [], accepted: 2, rejected: 0 }));
  await new Client({ url }).enqueueBatch([
    { capability: 'a.b' },
    { capability: 'a.c', idempotency_key: 'mine' },
  ]);
  const [first, second] = requests.map((r) => r.body['tasks'] as { idempotency_key: string }[]);
  expect(first).toEqual(second);
  expect(first?.[1]?.idempotency_key).toBe('mine');
  expect(first?.[0]?.idempotency_key).toMatch(/\.0$/);
});

it('turns a problem into an error that says everything, and does not repeat what cannot help', async () => {
  respond = (_request, response) => void reply(response, 400, problem(400, 'REACH_VALIDATION_FAILED', false));
  const error = await new Client({ url }).enqueue({ capability: 'a.b' }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ReachApiError);
  expect(error).toMatchObject({
    code: 'REACH_VALIDATION_FAILED',
    status: 400,
    retryable: false,
    traceId: 'abc',
    errors: [{ pointer: '/payload', detail: 'bad' }],
  });
  expect(requests).toHaveLength(1);
});

it('does not repeat what would happen twice', async () => {
  respond = (_request, response) => void reply(response, 503, problem(503, 'REACH_UNAVAILABLE', true));
  await expect(new Client({ url }).retry('t')).rejects.toMatchObject({ status: 503 });
  expect(requests).toHaveLength(1);
});

it('goes over to another URL when one does not answer', async () => {
  respond = (_request, response) => void reply(response, 200, { task_id: 't' });
  const client = new Client({ url: [away, url] });
  expect(await client.get('t')).toEqual({ task_id: 't' });
});

it('says that nobody is there', async () => {
  const client = new Client({ url: away, retries: 0 });
  await expect(client.get('t')).rejects.toThrow(ReachConnectionError);
  await expect(client.get('t')).rejects.toThrow(/ECONNREFUSED/);
  expect(() => new Client({ url: 'localhost:8080' })).toThrow(TypeError);
});

it('waits across long polls and across an absence of the centre', async () => {
  respond = (_request, response, n) => {
    if (n === 1) return void reply(response, 200, { task_id: 't', state: 'running' });
    if (n === 2) return void response.socket?.destroy();
    reply(response, 200, { task_id: 't', state: 'succeeded', result: 42 });
  };
  expect(await new Client({ url }).wait('t')).toMatchObject({ result: 42 });
  expect(Number(requests[0]?.query.get('wait_ms'))).toBeGreaterThan(1000);
});

it('ends a wait at its time', async () => {
  respond = (_request, response) => void reply(response, 200, { task_id: 't', state: 'queued' });
  await expect(new Client({ url }).wait('t', { timeoutMs: 20 })).rejects.toThrow(ReachTimeoutError);
});

it('runs a task to its result, or throws what became of it', async () => {
  respond = (request, response) =>
    void (request.method === 'POST'
      ? reply(response, 202, { task_id: 't', state: 'queued', deduplicated: false })
      : reply(response, 200, {
          task_id: 't',
          state: 'failed',
          error: { code: 'REACH_DEPENDENCY_DOWN', message: 'db away', retryable: true, agent_id: 'a' },
        }));
  const error = await new Client({ url }).run({ capability: 'a.b' }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ReachTaskError);
  expect(error).toMatchObject({ code: 'REACH_DEPENDENCY_DOWN', taskId: 't', agentId: 'a', retryable: true });
});

it('lists across pages, in its namespace', async () => {
  respond = (request, response) =>
    void reply(
      response,
      200,
      request.query.get('cursor') === 'c' ? { items: [3] } : { items: [1, 2], next_cursor: 'c' },
    );
  const items: unknown[] = [];
  for await (const task of new Client({ url, namespace: 'n' }).list({ state: 'failed' })) items.push(task);
  expect(items).toEqual([1, 2, 3]);
  expect(Object.fromEntries(requests[1]?.query ?? [])).toEqual({
    namespace: 'n',
    limit: '200',
    state: 'failed',
    cursor: 'c',
  });
});

it('encodes ids in paths', async () => {
  respond = (_request, response) => void reply(response, 200, {});
  await new Client({ url }).agent('x/y é');
  expect(requests[0]?.path).toBe('agents/x%2Fy%20%C3%A9');
});

it('follows events to the end, and takes a broken stream up again', async () => {
  const event = (position: number, kind: string) =>
    `id: ${position}\nevent: ${kind}\ndata: ${JSON.stringify({ position, kind, text: 'é' })}\n\n`;
  respond = (request, response) => {
    if (!request.path.endsWith('/events')) return void reply(response, 200, { state: 'running' });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (request.headers['last-event-id'] !== '2') {
      response.write(`: hello\n\n${event(1, 'accepted')}${event(2, 'offered')}`);
      setImmediate(() => response.socket?.destroy());
      return;
    }
    // Cut in the middle of an event and of a character.
    const bytes = Buffer.from(event(2, 'offered') + event(3, 'ended'));
    response.write(bytes.subarray(0, bytes.length - 7));
    response.end(bytes.subarray(bytes.length - 7));
  };
  const seen: number[] = [];
  for await (const entry of new Client({ url }).events('t')) seen.push(entry.position);
  expect(seen).toEqual([1, 2, 3]);
});
