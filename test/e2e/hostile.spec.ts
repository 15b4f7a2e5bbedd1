import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import type { Answer, Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { describeWithRedisServer } from '../support/redis.js';
import { RawSession } from '../support/raw-session.js';
import { until } from '../support/until.js';

const statuses = (answers: readonly Answer[]) => answers.map((a) => a.status);
const twenty = <T>(make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: 20 }, (_, i) => make(i)));

inBothModes('callers that mean harm, or just repeat themselves', (mode) => {
  const centre = Centre.ofSuite(mode);
  let api: Api;

  beforeEach(() => {
    api = centre.api();
  });

  /** The first line of the answer to an upgrade for `target`. */
  async function upgrade(target: string): Promise<string> {
    const { hostname, port } = new URL(api.url());
    const socket = connect(Number(port), hostname);
    socket.end(
      `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    return (await text(socket)).split('\r\n')[0] ?? '';
  }

  test.each(['//', '/\\\\', '//[', '*', '/%', '/api/v1/session%', '/api/v1/sessions'])(
    'an upgrade at %s is refused, and ends nothing',
    async (target) => {
      for (const _ of centre.urls) expect(await upgrade(target)).toBe('HTTP/1.1 404 Not Found');
      for (const url of centre.urls) expect((await fetch(`${url}/livez`)).status).toBe(200);
    },
  );

  test('a call that offers to go on in another protocol is answered in this one', async () => {
    const body = JSON.stringify({ namespace: api.namespace, capability: 'work' });
    const { hostname, port } = new URL(api.url());
    const socket = connect(Number(port), hostname);
    // As Java's HttpClient does with the first call of each connection.
    const call =
      'POST /api/v1/tasks HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n' +
      'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nContent-Type: application/json\r\n' +
      `Content-Length: ${body.length}\r\n\r\n`;
    // In two pieces, so that the server has not all of it when it sees the header.
    socket.write(call + body.slice(0, 5));
    setImmediate(() => socket.write(body.slice(5)));
    setImmediate(() => socket.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'));
    const answers = await text(socket);
    expect(answers.match(/HTTP\/1\.1 \d+ \w+/g)).toEqual(['HTTP/1.1 202 Accepted', 'HTTP/1.1 200 OK']);
    expect((await api.get('tasks')).body.items).toHaveLength(1);
  });

  test('who registers again is told which lease ended by it, and the history tells it too', async () => {
    const first = await api.agent('a1');
    const old = first.lease;
    expect((await first.register()).body.superseded_lease_id).toBe(old);
    const { history } = await api.agentView('a1');
    expect(history[0]).toMatchObject({
      from_state: 'online',
      to_state: 'online',
      facts: { superseded_lease_id: old, lease_id: first.lease },
    });
  });

  test('once it is answered, nothing that the old lease reports counts', async () => {
    const old = await api.agent('a1', { max_concurrency: 5 });
    const ids = await Promise.all([1, 2, 3].map(() => api.submit({ capability: 'work' })));
    const begun = await old.begin();
    const offers = [await old.offer(), await old.offer()];
    const young = await old.twin();
    const late = await Promise.all([
      old.complete(begun.delivery_id, 'late'),
      ...offers.map((offer) => old.ack(offer.delivery_id)),
    ]);
    expect(late.map((a) => a.body.execute ?? a.status)).toEqual([409, false, false]);
    expect(await api.ended(begun.task_id)).toMatchObject({
      state: 'failed',
      error: { code: 'REACH_AGENT_LOST' },
    });
    await young.work('one');
    await young.work('two');
    const states = await Promise.all(ids.map(async (id) => (await api.ended(id)).state as string));
    expect(states.sort()).toEqual(['failed', 'succeeded', 'succeeded']);
  });

  test('twenty heartbeats at once are twenty heartbeats', async () => {
    const agent = await api.agent('a1');
    expect(statuses(await twenty(() => agent.heartbeat()))).toEqual(Array(20).fill(200));
    // With one of another lease among them, which alone is refused.
    const twin = await agent.twin();
    const mixed = await Promise.all([twin.heartbeat(), agent.heartbeat(), twin.heartbeat()]);
    expect(statuses(mixed)).toEqual([200, 409, 200]);
  });

  test('twenty reports of progress at once are all taken', async () => {
    const agent = await api.agent('a1');
    const id = await api.submit({ capability: 'work' });
    const { delivery_id } = await agent.begin();
    const reports = await twenty((i) => agent.progress(delivery_id, { note: `n${i}` }));
    expect(statuses(reports)).toEqual(Array(20).fill(200));
    // The farthest deadline holds, whatever the order; a note of an operation without one stays.
    const session = await api.post('deliveries/batch', {
      lease_id: agent.lease,
      operations: [
        { op: 'progress', delivery_id, extend_ms: 3_600_000, note: 'last' },
        { op: 'progress', delivery_id, extend_ms: 1000 },
      ],
    });
    for (const answer of session.body.answers as Json[]) expect(answer.error).toBeUndefined();
    const task = await api.task(id);
    expect(task.progress).toMatchObject({ note: 'last' });
    expect(Date.parse(task.deliveries[0].deadline_at as string)).toBeGreaterThan(Date.now() + 3_000_000);
  });

  test('an id in capitals is the same id', async () => {
    const agent = await api.agent('a1');
    const id = await api.submit({ capability: 'work' });
    agent.lease = agent.lease.toUpperCase();
    const { delivery_id } = await agent.begin();
    expect((await agent.heartbeat([delivery_id as string])).body.stale).toEqual([]);
    expect((await agent.complete(delivery_id, 1)).status).toBe(200);
    expect((await api.ended(id.toUpperCase())).state).toBe('succeeded');
  });

  test('a batch with the header that is for one task is refused', async () => {
    const answer = await api.post(
      'tasks/batch',
      { tasks: [{ namespace: api.namespace, capability: 'work' }] },
      { 'idempotency-key': 'k' },
    );
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/idempotency-key' }] } });
    expect((await api.get('tasks')).body.items).toEqual([]);
  });

  test('an agent whose endpoint is the centre itself makes no tasks out of tasks', async () => {
    await api.agent('p1', { transport: 'push', endpoint: `${api.url()}/api/v1/tasks` });
    // An offer names no namespace, so a task made of it would be here.
    const here = centre.api('default');
    const before = (await here.get('tasks')).body.items.length as number;
    const id = await api.submit({ capability: 'work', idempotent: true, max_attempts: 1 });
    expect(await api.ended(id)).toMatchObject({ state: 'failed', error: { code: 'REACH_AGENT_REFUSED' } });
    expect((await here.get('tasks')).body.items).toHaveLength(before);
  });

  test('what an agent has room for reaches it, however much it is', async () => {
    const agent = await api.agent('a1', { max_concurrency: 400 });
    const tasks = Array.from({ length: 400 }, () => ({
      namespace: api.namespace,
      capability: 'work',
      ack_timeout_ms: 20_000,
    }));
    await api.post('tasks/batch', { tasks });
    // All of them are offered before the first is fetched.
    await until('400 offers', async () => (await api.agentView('a1')).in_flight === 400);
    let got = 0;
    while (got < 400) {
      const offers = await agent.offers(1000, 2000);
      if (offers.length === 0) break;
      got += offers.length;
    }
    expect(got).toBe(400);
  });

  describe('sessions', () => {
    test('a first frame that is none ends the connection, as its answer says', async () => {
      const session = await RawSession.connect(api, 's1');
      session.socket.send('not json');
      const error = await session.frame('error', (f) => f.type === 'error');
      expect(error).toMatchObject({ problem: { code: 'REACH_VALIDATION_FAILED' }, fatal: true });
      expect((error.problem.detail as string).match(/not valid JSON/g)).toHaveLength(2);
      expect(await session.closed).toBe(1008);
    });

    test('two agents in one session: the second is refused, and the first is not left behind as reachable', async () => {
      const session = await RawSession.connect(api, 's1');
      const agent = (id: string) => ({ namespace: api.namespace, agent_id: id, capabilities: ['work'] });
      session.send({ type: 'register', ref: 1, agent: agent('s1') });
      session.send({ type: 'register', ref: 2, agent: agent('s2') });
      const error = await session.frame('refusal', (f) => f.type === 'error');
      expect(error).toMatchObject({ ref: 2, problem: { code: 'REACH_STATE_CONFLICT' }, fatal: true });
      await session.closed;
      await until(
        's1 is known to be unreachable',
        async () => (await api.agentView('s1')).state !== 'online',
      );
      expect((await api.get('agents/s2')).status).toBe(404);
    });
  });
});

describe('a dispatcher whose time of day is wrong', () => {
  let centre: Centre;
  let agent: Server;

  afterEach(async () => {
    agent?.close();
    await centre?.stop();
  });

  test.each([600_000, -600_000])(
    'by %d ms pushes as ever',
    async (offsetMs) => {
      centre = await Centre.start('embedded', {
        env: {
          NODE_OPTIONS: `--import ${join(import.meta.dirname, '../support/wrong-clock.mjs')}`,
          CLOCK_OFFSET_MS: String(offsetMs),
        },
      });
      const api = centre.api();
      agent = createServer((_request, response) => response.end('{"ack":true}')).listen(0, '127.0.0.1');
      await once(agent, 'listening');
      const endpoint = `http://127.0.0.1:${(agent.address() as AddressInfo).port}/`;
      await api.agent('p1', { transport: 'push', endpoint });
      const id = await api.submit({ capability: 'work' });
      expect(await api.reached(id, 'running')).toMatchObject({ agent_id: 'p1', attempt: 1 });
    },
    60_000,
  );
});

describeWithRedisServer('while Redis is away', () => {
  const centre = Centre.ofSuite('distributed');

  test('whoever asks is told that it is Redis', async () => {
    const api = centre.api();
    const agent = await api.agent('a1');
    await centre.redis?.kill();
    const id = await api.submit({ capability: 'work' });
    for (const url of centre.urls) {
      await until(`${url} tells`, async () => {
        const { body } = await api.at(url).get(`tasks/${id}/explain`);
        return /^waits: tasks cannot be given out now: Redis cannot be used/.test(body.headline as string);
      });
      const ready = await api.at(url).call('GET', '/readyz');
      expect(ready).toMatchObject({ status: 200, body: { ready: true } });
      expect(ready.body.checks.redis).toMatch(/does not answer/);
      expect((await api.at(url).call('GET', '/metrics')).body).toMatch(/^reach_redis_up 0$/m);
      await until(`${url} counts what waits`, async () => {
        const { body } = await api.at(url).call('GET', '/metrics');
        return /^reach_tasks_waiting\{capability="work"\} 1$/m.test(body as string);
      });
    }
    expect(await agent.claim(1, 0)).toMatchObject({ status: 503, body: { detail: /Redis does not answer/ } });
    await centre.redis?.restartEmpty();
    for (const url of centre.urls) {
      await until(`${url} has it back`, async () => {
        const { checks } = (await api.at(url).call('GET', '/readyz')).body;
        return checks.redis === 'ok';
      });
      expect((await api.at(url).call('GET', '/metrics')).body).toMatch(/^reach_redis_up 1$/m);
    }
    expect(await agent.begin()).toMatchObject({ task_id: id });
  });
});
