import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { Agent } from '../../sdk/typescript/src/agent.js';
import type { AgentOptions } from '../../sdk/typescript/src/agent-options.js';
import { MemoryDedup, type DedupDelivery, type DedupStore } from '../../sdk/typescript/src/dedup.js';
import type { Logger } from '../../sdk/typescript/src/logger.js';
import { RedisDedup } from '../../sdk/typescript/src/redis-dedup.js';
import { counted, FakeCentre, gate } from '../../sdk/typescript/test/fake-centre.js';
import { anyRedis, describeWithRedis, describeWithRedisServer, type TestRedis } from '../support/redis.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const quiet: Logger = { debug: () => 0, info: () => 0, warn: () => 0, error: () => 0 };
let tasks = 0;
const delivery = (fence: number, idempotent = false, taskId = `task-${++tasks}`): DedupDelivery => ({
  taskId,
  fence,
  idempotent,
});
const again = (d: DedupDelivery, fence: number): DedupDelivery => ({ ...d, fence });

function aStore(make: () => DedupStore): void {
  it('lets the first delivery run, and answers a newer one with its result', async () => {
    const store = make();
    const first = delivery(1);
    expect(await store.begin(first)).toEqual({ kind: 'run' });
    await store.end(first, { kind: 'done', result: '"outputs":{"ü":1}' });
    const done = { kind: 'done', result: '"outputs":{"ü":1}' };
    expect(await store.begin(again(first, 2))).toEqual(done);
    expect(await store.begin(again(first, 7))).toEqual(done);
  });

  it('lets a newer delivery take over, and never an older one', async () => {
    const store = make();
    const first = delivery(1, true);
    await store.begin(first);
    const newer = again(first, 3);
    expect(await store.begin(newer)).toEqual({ kind: 'run' });
    expect(await store.begin(again(first, 2))).toEqual({ kind: 'superseded' });
    // What the older one says of its end changes nothing.
    await store.end(first, { kind: 'done', result: '"outputs":"old"' });
    expect(await store.begin(again(first, 2))).toEqual({ kind: 'superseded' });
    await store.end(newer, { kind: 'done', result: '"outputs":"new"' });
    expect(await store.begin(again(first, 4))).toEqual({ kind: 'done', result: '"outputs":"new"' });
  });

  it('holds a delivery back that is not idempotent while an earlier one runs, and lets it go on after a failure', async () => {
    const store = make();
    const first = delivery(1);
    await store.begin(first);
    expect(await store.begin(again(first, 2))).toEqual({ kind: 'busy' });
    await store.end(first, { kind: 'released' });
    expect(await store.begin(again(first, 2))).toEqual({ kind: 'run' });
  });

  it('says that nobody knows how far an earlier delivery came that was told to stop', async () => {
    const store = make();
    const first = delivery(1);
    await store.begin(first);
    await store.end(first, { kind: 'unknown' });
    expect(await store.begin(again(first, 2))).toEqual({ kind: 'unknown' });
    expect(await store.begin({ ...again(first, 2), idempotent: true })).toEqual({ kind: 'run' });
  });

  it('answers with no result that is too large to be kept', async () => {
    const store = make();
    const [once, twice] = [delivery(1), delivery(1, true)];
    for (const d of [once, twice]) {
      await store.begin(d);
      await store.end(d, { kind: 'done', result: 'x'.repeat(256 * 1024 + 1) });
    }
    expect(await store.begin(again(once, 2))).toEqual({ kind: 'unknown' });
    expect(await store.begin(again(twice, 2))).toEqual({ kind: 'run' });
  });
}

describe('handled tasks in memory', () => aStore(() => new MemoryDedup()));

describeWithRedis('handled tasks in Redis', () => {
  let server: TestRedis;
  let client: Redis;

  beforeAll(async () => {
    server = await anyRedis();
    client = new Redis(server.url);
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  const store = (holdMs = 60_000) => new RedisDedup({ client, prefix: server.prefix, holdMs });
  const lapsed = (d: DedupDelivery) =>
    until('the hold lapsed', async () => (await client.exists(`${server.prefix}{${d.taskId}}:hold`)) === 0);

  aStore(store);

  it('takes a client in each of its shapes, and refuses what can send nothing', async () => {
    const send = (args: string[]) => client.call(args[0] as string, ...args.slice(1));
    for (const shape of [client, { sendCommand: send }, send])
      expect(await new RedisDedup({ client: shape, prefix: server.prefix }).begin(delivery(1))).toEqual({
        kind: 'run',
      });
    expect(() => new RedisDedup({ client: {} as never })).toThrow(TypeError);
  });

  it('gives one delivery to one process only, and each of its own asks the same answer', async () => {
    const [a, b] = [store(), store()];
    const d = delivery(1);
    expect(await a.begin(d)).toEqual({ kind: 'run' });
    expect(await b.begin(d)).toEqual({ kind: 'superseded' });
    expect(await a.begin(d)).toEqual({ kind: 'run' });
  });

  it('lets one of many win, whoever asks at the same moment', async () => {
    const stores = Array.from({ length: 8 }, () => store());
    for (let round = 0; round < 50; round++) {
      const d = delivery(1);
      const claims = await Promise.all(stores.map((s) => s.begin(d)));
      expect(claims.filter((c) => c.kind === 'run')).toHaveLength(1);
    }
    // Of several deliveries of an idempotent task the newest has the key in the end, whatever the order.
    for (let round = 0; round < 50; round++) {
      const d = delivery(1, true);
      const fences = stores.map((_, i) => i + 1).sort(() => Math.random() - 0.5);
      await Promise.all(stores.map((s, i) => s.begin(again(d, fences[i] as number))));
      expect(await client.hget(`${server.prefix}{${d.taskId}}`, 'fence')).toBe('8');
    }
  });

  it('takes a holder that is not heard of for dead, and one that renews its hold not', async () => {
    const [dead, alive, other] = [store(200), store(200), store()];
    const held = delivery(1);
    await alive.begin(held);
    const d = delivery(1);
    await dead.begin(d);
    // As if the process had died: nothing renews the hold any more.
    clearInterval(dead['renewal']);
    await lapsed(d);
    expect(await other.begin(again(d, 2))).toEqual({ kind: 'unknown' });
    expect(await other.begin({ ...again(d, 2), idempotent: true })).toEqual({ kind: 'run' });
    expect(await other.begin(again(held, 2))).toEqual({ kind: 'busy' });
    await alive.end(held, { kind: 'released' });
    expect(alive['renewal']).toBeUndefined();
  });

  it('forgets a task when its time is over', async () => {
    const brief = new RedisDedup({ client, prefix: server.prefix, retentionMs: 300 });
    const d = delivery(1);
    await brief.begin(d);
    await brief.end(d, { kind: 'done', result: '"outputs":1' });
    await until('forgotten', async () => (await client.exists(`${server.prefix}{${d.taskId}}`)) === 0);
    expect(await brief.begin(again(d, 2))).toEqual({ kind: 'run' });
  });
});

describeWithRedisServer('two agents that share a Redis', () => {
  let redis: RedisServer;
  let client: Redis;
  const open: (() => unknown)[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.stop());
  beforeEach(() => {
    client = new Redis(redis.url, { commandTimeout: 500, maxRetriesPerRequest: null });
    client.on('error', () => undefined);
  });
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
    client.disconnect();
  });

  /** An agent at a centre of its own, so that what it is offered is told exactly. */
  async function agentAt(id: string, options: Partial<AgentOptions>): Promise<FakeCentre> {
    const centre = await new FakeCentre().listen();
    const dedup = new RedisDedup({ client });
    const agent = new Agent({ url: centre.url, agentId: id, logger: quiet, dedup, ...options });
    open.push(() => centre.kill());
    open.push(() => agent.stop({ drainMs: 0 }));
    await agent.start();
    return centre;
  }

  it('answer with what the other one finished, and run it once', async () => {
    const handler = counted(() => ({ by: 'a' }));
    const a = await agentAt('a', { capabilities: { 'a.b': handler.run } });
    const b = await agentAt('b', { capabilities: { 'a.b': handler.run } });
    const { task_id } = a.offer();
    await a.until(() => a.ops('complete').length === 1);
    await until('noted', async () => (await client.hget(`reach:dedup:{${task_id}}`, 'state')) === 'done');
    b.offer({ task_id, fence: 2 });
    await b.until(() => b.ops('complete').length === 1);
    expect(b.ops('complete')[0]).toMatchObject({ delivery_id: `${task_id}.2`, outputs: { by: 'a' } });
    expect(handler.calls).toBe(1);
  });

  it('wait for each other where the task must not run twice', async () => {
    const held = gate();
    const handler = counted(() => held.promise.then(() => 'slow'));
    const a = await agentAt('a', { capabilities: { 'a.b': handler.run } });
    const b = await agentAt('b', { capabilities: { 'a.b': handler.run } });
    const { task_id } = a.offer();
    await until('a runs it', () => handler.calls === 1);
    b.offer({ task_id, fence: 2 });
    await b.until(() => b.ops('ack').length === 1);
    held.open();
    await b.until(() => b.ops('complete').length === 1);
    expect(b.ops('complete')[0]).toMatchObject({ outputs: 'slow' });
    expect(handler.calls).toBe(1);
  });

  it('run what failed once more', async () => {
    const a = await agentAt('a', { capabilities: { 'a.b': () => Promise.reject(new Error('no')) } });
    const b = await agentAt('b', { capabilities: { 'a.b': () => 'well' } });
    const { task_id } = a.offer();
    await a.until(() => a.ops('fail').length === 1);
    b.offer({ task_id, fence: 2 });
    await b.until(() => b.ops('complete').length === 1);
  });

  it('fail a task for good whose earlier delivery was stopped in the middle, and say so', async () => {
    const begun = gate();
    const a = await agentAt('a', {
      capabilities: {
        'a.b': async (_task, ctx) => {
          begun.open();
          await new Promise((_, reject) => {
            ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error));
          });
        },
      },
    });
    const b = await agentAt('b', { capabilities: { 'a.b': () => 'twice' } });
    const offer = a.offer();
    await begun.promise;
    a.send({ type: 'stale', deliveries: [{ delivery_id: offer.delivery_id, reason: 'REACH_CANCELED' }] });
    const key = `reach:dedup:{${offer.task_id}}`;
    await until('noted', async () => (await client.hget(key, 'state')) === 'unknown');
    b.offer({ task_id: offer.task_id, fence: 2 });
    await b.until(() => b.ops('fail').length === 1);
    expect(b.ops('fail')[0]).toMatchObject({ code: 'AGENT_ERROR', retryable: false });
    expect(b.ops('fail')[0]?.message).toContain('not run again');
  });

  it('work on without Redis, but for pushes that must not run twice', async () => {
    const handler = counted(() => 'ran');
    const warnings: string[] = [];
    const logger = { ...quiet, warn: (message: string) => warnings.push(message) };
    const agent = { capabilities: { 'a.b': handler.run }, logger, maxConcurrency: 4 };
    const pulling = await agentAt('pulling', agent);
    const centre = await new FakeCentre().listen();
    const dedup = new RedisDedup({ client });
    const options = { ...agent, url: centre.url, dedup, transport: 'push', endpoint: 'http://h/' } as const;
    const pushed = new Agent({ ...options, agentId: 'pushed' });
    const endpoint = createServer(pushed.pushHandler()).listen(0, '127.0.0.1');
    open.push(() => new Promise((resolve) => endpoint.close(resolve)));
    open.push(() => centre.kill());
    open.push(() => pushed.stop({ drainMs: 0 }));
    await pushed.start();
    const push = (task_id: string, idempotent: boolean) =>
      fetch(`http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`, {
        method: 'POST',
        body: JSON.stringify({ ...offerOf(task_id), idempotent }),
      });

    redis.pause();
    try {
      pulling.offer();
      await pulling.until(() => pulling.ops('complete').length === 1);
      await push('idempotent', true);
      await centre.until(() => centre.ops('complete').length === 1);
      await push('once', false);
      await centre.until(() => centre.ops('fail').length === 1);
      expect(centre.ops('fail')[0]).toMatchObject({ delivery_id: 'once.1', code: 'AGENT_REFUSED' });
      expect(handler.calls).toBe(2);
      expect(warnings).toContain('the store of handled tasks does not answer');
    } finally {
      redis.resume();
    }
    await push('after', false);
    await centre.until(() => centre.ops('complete').length === 2);
    expect(warnings).toContain('the store of handled tasks answers again');
  });
});

function offerOf(task_id: string): object {
  const common = { attempt: 1, fence: 1, capability: 'a.b', payload: {}, execution_timeout_ms: 10_000 };
  return { delivery_id: `${task_id}.1`, task_id, ...common };
}
