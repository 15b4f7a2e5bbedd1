import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Api } from '../support/api.js';
import { Centre } from '../support/centre.js';
import { Load } from '../support/load.js';
import { type PrivatePostgres, startPrivatePostgres } from '../support/postgres.js';
import { type RedisServer } from '../support/redis-server.js';
import { describeWithRedisServer } from '../support/redis.js';
import { until } from '../support/until.js';

/*
 * Two dispatchers, a Redis and a Postgres of our own, under load, while one of them breaks. Afterwards: every
 * accepted task has ended once, what is not idempotent was begun at most once, and work went on soon.
 */

const GOES_ON_WITHIN_MS = 10_000;
const SUBMIT_ANSWER_WITHIN_MS = 3_000;
/** A start takes 2 s on a machine at rest, and ten times that on one that is busy with other tests. */
const RESTARTS_WITHIN_MS = 180_000;

describeWithRedisServer('faults under load', () => {
  let postgres: PrivatePostgres;
  let centre: Centre;
  let redis: RedisServer;
  let api: Api;
  let load: Load;

  beforeAll(async () => {
    postgres = await startPrivatePostgres();
    centre = await Centre.start('distributed', { databaseUrl: postgres.url });
    redis = centre.redis as RedisServer;
  }, RESTARTS_WITHIN_MS);
  afterAll(async () => {
    await centre?.stop();
    await postgres?.stop();
  }, RESTARTS_WITHIN_MS);

  beforeEach(async () => {
    api = centre.api();
    load = new Load(api, centre.urls);
    await load.start();
    await load.goesOn(50, GOES_ON_WITHIN_MS);
  });
  afterEach(async () => {
    const tasks = await load.finish();
    const found = new Map(tasks.map((t) => [t.task_id as string, t]));
    // Everything that was accepted is there, and nothing else: a key is one task.
    expect(found.size).toBe(load.accepted.length);
    expect(new Set(load.accepted)).toEqual(new Set(found.keys()));
    const failed = tasks.filter((t) => t.state !== 'succeeded');
    for (const task of tasks) {
      const executed = load.executions.get(task.task_id as string) ?? 0;
      if (task.state === 'succeeded') expect(executed).toBeGreaterThanOrEqual(1);
      if (task.idempotent !== true && executed > 1)
        throw new Error(`task ${task.task_id} is not idempotent and was begun ${executed} times`);
    }
    for (const task of failed) {
      const attributions = await api.attributions(task.task_id as string);
      expect(attributions.filter((a) => a.final === true)).toHaveLength(1);
    }
    // Agents and network were well: a fault of ours ends hardly any task badly.
    if (failed.length > tasks.length / 20)
      throw new Error(`${failed.length} of ${tasks.length} failed: ${JSON.stringify(failed.slice(0, 3))}`);
    expect(new Set(load.tries.map((t) => t.status))).toEqual(
      new Set([202, ...load.tries.map((t) => t.status).filter((s) => [0, 503].includes(s))]),
    );
  }, RESTARTS_WITHIN_MS);

  test(
    'a dispatcher is killed, again and again',
    async () => {
      for (let i = 0; i < 3; i++) {
        const victim = centre.dispatcher(Math.floor(Math.random() * 2));
        await victim.kill9();
        await load.goesOn(50, GOES_ON_WITHIN_MS);
        await victim.start();
        await load.goesOn(50, GOES_ON_WITHIN_MS);
      }
    },
    RESTARTS_WITHIN_MS,
  );

  test(
    'FLUSHALL',
    async () => {
      const client = new Redis(redis.url);
      for (let i = 0; i < 3; i++) {
        await client.flushall();
        await load.goesOn(100, GOES_ON_WITHIN_MS);
      }
      client.disconnect();
    },
    RESTARTS_WITHIN_MS,
  );

  test(
    'Redis dies and comes back empty',
    async () => {
      await redis.kill();
      const before = load.tries.length;
      await until('submits were tried without Redis', () => load.tries.length > before + 20);
      await redis.restartEmpty();
      await load.goesOn(100, GOES_ON_WITHIN_MS);
      for (const { tookMs } of load.tries.slice(before)) expect(tookMs).toBeLessThan(SUBMIT_ANSWER_WITHIN_MS);
    },
    RESTARTS_WITHIN_MS,
  );

  test(
    'Redis is frozen for some seconds',
    async () => {
      const before = load.tries.length;
      redis.pause();
      await pause(4_000);
      redis.resume();
      await load.goesOn(100, GOES_ON_WITHIN_MS);
      const after = load.tries.slice(before);
      expect(Math.max(...after.map((t) => t.tookMs))).toBeLessThan(SUBMIT_ANSWER_WITHIN_MS);
    },
    RESTARTS_WITHIN_MS,
  );

  test(
    'Postgres is restarted, and killed',
    async () => {
      await postgres.restart();
      await load.goesOn(100, GOES_ON_WITHIN_MS);
      await postgres.kill9();
      await load.goesOn(100, GOES_ON_WITHIN_MS);
      for (const dispatcher of centre.dispatchers)
        expect((await fetch(`${dispatcher.url}/livez`)).status).toBe(200);
    },
    RESTARTS_WITHIN_MS,
  );
});

describeWithRedisServer('an outage of ours is not taken for theirs', () => {
  const centre = Centre.ofSuite('distributed');

  test(
    'dispatchers away for three lease times: nobody alive goes offline, the dead do',
    async () => {
      const leaseMs = 3000;
      const api = centre.api();
      const lease = { heartbeat_interval_ms: 1000, lease_ttl_ms: leaseMs };
      const alive = await Promise.all(Array.from({ length: 30 }, (_, i) => api.agent(`alive-${i}`, lease)));
      const dead = await api.agent('dead', { ...lease, capabilities: ['other'] });
      for (const agent of alive) agent.beat(500);
      const running = await api.submit({ capability: 'work', execution_timeout_ms: 60_000 });
      await until('begun', async () => {
        for (const agent of alive) {
          const [offer] = await agent.offers(1, 0);
          if (offer !== undefined) return (await agent.ack(offer.delivery_id)).body.execute as boolean;
        }
        return false;
      });
      await Promise.all(centre.dispatchers.map((d) => d.kill9()));
      await pause(3 * leaseMs);
      for (const dispatcher of centre.dispatchers) await dispatcher.start();
      await api.agentIs('dead', 'offline');
      for (const { id } of alive) {
        const { history } = await api.agentView(id);
        expect(history.map((h: { to_state: string }) => h.to_state)).not.toContain('offline');
      }
      expect(await api.task(running)).toMatchObject({ state: 'running', attempt: 1 });
      for (const agent of alive) agent.still();
      expect(await dead.heartbeat()).toMatchObject({ status: 409 });
    },
    RESTARTS_WITHIN_MS,
  );
});

describeWithRedisServer('Redis is away', () => {
  test(
    'a submit is accepted or refused within 3 s, and what was accepted runs once',
    async () => {
      const centre = await Centre.start('distributed');
      const redis = centre.redis as RedisServer;
      const api = centre.api();
      const agent = await api.agent('a1', { max_concurrency: 50 });
      await redis.kill();
      const answers = await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          const began = performance.now();
          const answer = await api.post(
            'tasks',
            { capability: 'work', payload: n },
            { 'idempotency-key': `k${n}` },
          );
          return { ...answer, tookMs: performance.now() - began };
        }),
      );
      for (const { status, tookMs } of answers) {
        expect([202, 503]).toContain(status);
        expect(tookMs).toBeLessThan(SUBMIT_ANSWER_WITHIN_MS);
      }
      for (const dispatcher of centre.dispatchers) {
        const began = performance.now();
        await fetch(`${dispatcher.url}/readyz`);
        expect(performance.now() - began).toBeLessThan(SUBMIT_ANSWER_WITHIN_MS);
      }
      await redis.restartEmpty();
      const ids = answers.filter((a) => a.status === 202).map((a) => a.body.task_id as string);
      expect(ids.length).toBeGreaterThan(0);
      const seen: string[] = [];
      await until('all of them were executed', async () => {
        const { status, body } = await agent.claim(50, 1000);
        for (const offer of status === 200 ? body.deliveries : []) {
          if ((await agent.ack(offer.delivery_id)).body.execute !== true) continue;
          seen.push(offer.task_id as string);
          await agent.complete(offer.delivery_id);
        }
        return seen.length >= ids.length;
      });
      expect([...seen].sort()).toEqual([...ids].sort());
      for (const id of ids) expect((await api.ended(id)).state).toBe('succeeded');
      await centre.stop();
    },
    RESTARTS_WITHIN_MS,
  );
});
