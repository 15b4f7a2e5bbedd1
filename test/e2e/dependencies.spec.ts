import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { ProbedServer } from '../support/probed-server.js';
import { describeWithRedisServer } from '../support/redis.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const env = {
  REACH_DEPENDENCY_INTERVAL_MS: '1000',
  REACH_MEMBERSHIP_INTERVAL_MS: '300',
  REACH_OUTBOUND_LOOPBACK: 'allow',
};
/** Nothing but its dependencies changes anything about such an agent for the time of a test. */
const QUIET = { heartbeat_interval_ms: 60_000, lease_ttl_ms: 600_000 };

inBothModes('dependencies', (mode) => {
  const centre = Centre.ofSuite(mode, { env });
  let api: Api;
  const servers: ProbedServer[] = [];

  beforeEach(() => {
    api = centre.api();
  });
  afterEach(() => Promise.all(servers.splice(0).map((s) => s.die())));

  const serverOf = async () => {
    const server = await ProbedServer.start();
    servers.push(server);
    return server;
  };
  const needs = (server: ProbedServer, more: object = {}) => ({
    ...QUIET,
    dependencies: [
      { name: 'search', type: 'http', target: server.url, critical: true, timeout_ms: 1000, ...more },
    ],
  });
  const state = (id: string, wanted: string) =>
    until(`${id} is ${wanted}`, async () => (await api.agentView(id)).state === wanted);
  const history = async (id: string) => (await api.agentView(id)).history as Json[];
  const asked = (server: ProbedServer, times: number) =>
    until(`asked ${times} times more`, () => server.askedAt.length >= times);

  test('the death of a critical one takes the agent out, its return brings it back', async () => {
    const server = await serverOf();
    const agent = await api.agent('a1', needs(server));
    await asked(server, 2);
    await server.die();
    await state('a1', 'degraded');
    const id = await api.submit({ capability: 'work' });
    expect(await agent.offers(1, 300)).toEqual([]);
    const [latest] = await history('a1');
    expect(latest).toMatchObject({
      reason: 'critical dependency search (refused) is down',
      evidence: { dependency: 'search', probe: { kind: 'http', ok: false, fault: 'refused', failures: 3 } },
    });
    await server.revive();
    await state('a1', 'online');
    expect((await agent.work()).task_id).toBe(id);
    const states = (await history('a1')).map((h) => h.to_state as string).reverse();
    expect(states).toEqual(['online', 'suspicious', 'degraded', 'online']);
  });

  test('an optional one that is down is told, and the agent goes on working', async () => {
    const server = await serverOf();
    server.status = 503;
    const agent = await api.agent('a1', needs(server, { critical: false }));
    await state('a1', 'degraded');
    expect((await history('a1'))[0].reason).toBe('optional dependency search (server_error) is down');
    const id = await api.submit({ capability: 'work' });
    expect((await agent.work()).task_id).toBe(id);
  });

  test('agents that share one share its probes, and one that comes later is told at once', async () => {
    const server = await serverOf();
    await Promise.all(['a1', 'a2', 'a3'].map((id) => api.agent(id, needs(server))));
    await asked(server, 2);
    server.status = 503;
    await Promise.all(['a1', 'a2', 'a3'].map((id) => state(id, 'degraded')));
    expect(server.shortestGapMs(0)).toBeGreaterThan(450);
    await api.agent('late', needs(server));
    await state('late', 'degraded');
  });

  test('a flapping one makes one change, not one each time', async () => {
    const server = await serverOf();
    await api.agent('a1', needs(server));
    await asked(server, 2);
    for (let i = 0; i < 6; i++) {
      server.status = i % 2 === 0 ? 503 : 200;
      await asked(server, server.askedAt.length + 1);
    }
    const states = (await history('a1')).map((h) => h.to_state as string).reverse();
    expect(states).toEqual(['online', 'suspicious']);
  });

  test('the agent another agent needs is judged by its state', async () => {
    const needed = await api.agent('needed', QUIET);
    const dependencies = [{ name: 'peer', type: 'agent', target: 'needed', critical: true }];
    await api.agent('a1', { ...QUIET, dependencies });
    await needed.deregister(60_000);
    await state('a1', 'degraded');
    expect((await history('a1'))[0].reason).toMatch(
      /^critical dependency peer \((removing|unregistered)\) is down$/,
    );
    await needed.register();
    await state('a1', 'online');
  });

  test('of a group that another agent needs one instance that works is enough', async () => {
    const group = { ...QUIET, name: 'summarizer' };
    const dependencies = [{ name: 'peers', type: 'agent', target: 'summarizer', critical: true }];
    await api.agent('reporter', { ...QUIET, dependencies });
    await state('reporter', 'degraded');
    const first = await api.agent('summarizer-1', group);
    const second = await api.agent('summarizer-2', group);
    await state('reporter', 'online');
    await first.deregister(60_000);
    await second.deregister(60_000);
    await state('reporter', 'degraded');
    expect((await history('reporter')).map((h) => h.to_state as string).reverse()).toEqual([
      'online',
      'degraded',
      'online',
      'degraded',
    ]);
  });
});

describeWithRedisServer('a Redis that agents need', () => {
  const centre = Centre.ofSuite('embedded', { env });

  test('is missed when it is killed, and found again when it is back', async () => {
    const api = centre.api();
    const redis = await RedisServer.start();
    try {
      const target = new URL(redis.url).host;
      const dependencies = [{ name: 'cache', type: 'tcp', target, critical: true }];
      await api.agent('a1', { ...QUIET, dependencies });
      const state = (wanted: string) =>
        until(`a1 is ${wanted}`, async () => (await api.agentView('a1')).state === wanted);
      await until(
        'probed',
        async () => (await api.agentView('a1')).facts.dependencies[0].standing === 'good',
      );
      await redis.kill();
      await state('degraded');
      await redis.restartEmpty();
      await state('online');
    } finally {
      await redis.stop();
    }
  });
});
