import { AgentProcess } from '../support/agent-process.js';
import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { ProbedServer } from '../support/probed-server.js';
import { describeWithRedisServer } from '../support/redis.js';
import { until } from '../support/until.js';

const env = {
  REACH_DEPENDENCY_INTERVAL_MS: '1000',
  REACH_MEMBERSHIP_INTERVAL_MS: '300',
  REACH_ECHO_INTERVAL_MS: '500',
  // A round of echoes that stay out takes longer than a look at ourselves keeps.
  REACH_ECHO_TIMEOUT_MS: '2500',
  REACH_OUTBOUND_LOOPBACK: 'allow',
};
const QUIET = { heartbeat_interval_ms: 60_000, lease_ttl_ms: 600_000 };

const statesOf = async (api: Api, id: string) =>
  ((await api.agentView(id)).history as Json[]).map((h) => h.to_state as string).reverse();
const needing = (...servers: ProbedServer[]) => ({
  ...QUIET,
  dependencies: servers.map((server, i) => ({
    name: `dependency-${i}`,
    type: 'http',
    target: server.url,
    critical: true,
    timeout_ms: 1000,
  })),
});

inBothModes('a prober in trouble', (mode) => {
  let centre: Centre;
  const servers: ProbedServer[] = [];

  beforeAll(async () => {
    centre = await Centre.start(mode, { env, dispatchers: 1 });
  }, 60_000);
  afterAll(async () => {
    await centre?.stop();
    await Promise.all(servers.map((s) => s.die()));
  });

  test('that stood still itself takes nobody down for it', async () => {
    const api = centre.api();
    const server = await ProbedServer.start();
    servers.push(server);
    await api.agent('needing', needing(server));
    const echoing = await AgentProcess.start(api, centre.urls, 'echoing', {
      heartbeatIntervalMs: 60_000,
      leaseTtlMs: 600_000,
      // It would take a centre that stands still for a broken one.
      answerTimeoutMs: 60_000,
    });
    await until('asked', () => server.askedAt.length > 1);
    const dispatcher = centre.dispatcher(0);
    const before = dispatcher.log.length;
    dispatcher.signal('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    dispatcher.signal('SIGCONT');
    const told = await dispatcher.logged('doubt', (line) => line.event === 'reach_prober_doubt', before);
    expect(told['kind']).toBe('stall');
    const asked = server.askedAt.length;
    await until('asked on', () => server.askedAt.length > asked + 1);
    expect(await statesOf(api, 'needing')).toEqual(['online']);
    expect(await statesOf(api, 'echoing')).toEqual(['online']);
    await echoing.kill9();
  });

  test('sees most of a namespace turn bad at once, and tells it only once confirmed', async () => {
    const api = centre.api();
    const server = await ProbedServer.start();
    servers.push(server);
    const ids = Array.from({ length: 6 }, (_, i) => `a${i}`);
    await Promise.all(ids.map((id) => api.agent(id, needing(server))));
    await until('asked', () => server.askedAt.length > 1);
    await server.die();
    await until('all are down', async () => {
      const states = await Promise.all(ids.map(async (id) => (await api.agentView(id)).state as string));
      return states.every((state) => state === 'degraded');
    });
    for (const id of ids) {
      const history = ((await api.agentView(id)).history as Json[]).reverse();
      expect(history[1].evidence.probe.failures).toBeGreaterThanOrEqual(2);
    }
  });
});

inBothModes('a prober that sees most agents fall silent', (mode) => {
  let centre: Centre;
  beforeAll(async () => {
    centre = await Centre.start(mode, { env, dispatchers: 1 });
  }, 60_000);
  afterAll(() => centre?.stop());

  test('tells it once one more round said the same', async () => {
    const api = centre.api();
    const ids = Array.from({ length: 5 }, (_, i) => `a${i}`);
    const options = { heartbeat_interval_ms: 60_000, features: ['echo'] };
    const sessions = await Promise.all(ids.map((id) => api.session(id, options)));
    await Promise.all(
      sessions.map(async (session) => {
        const { ref } = await session.frame('echo', (f) => f.type === 'echo');
        session.send({ type: 'echo', ref, ok: true, echo: 'reachable' });
      }),
    );
    await until('all are suspicious', async () => {
      const states = await Promise.all(ids.map(async (id) => (await api.agentView(id)).state as string));
      return states.every((state) => state === 'suspicious');
    });
    // The first ones were few yet, and were told at once; from the fourth on it was too many to be believed.
    const failures = await Promise.all(
      ids.map(async (id) => (await api.agentView(id)).history[0].evidence.probe.failures as number),
    );
    expect(failures.filter((n) => n >= 2).length).toBeGreaterThanOrEqual(2);
  });
});

describeWithRedisServer('replicas share the probes', () => {
  let centre: Centre;
  const servers: ProbedServer[] = [];

  beforeAll(async () => {
    centre = await Centre.start('distributed', { env, dispatchers: 3 });
    servers.push(...(await Promise.all(Array.from({ length: 12 }, () => ProbedServer.start()))));
  }, 120_000);
  afterAll(async () => {
    await centre?.stop();
    await Promise.all(servers.map((s) => s.die()));
  });

  test('nobody is probed by two, and the share of one that dies goes on with the others', async () => {
    const api = centre.api();
    await Promise.all(servers.map((server, i) => api.agent(`a${i}`, needing(server))));
    (servers[0] as ProbedServer).status = 503;
    await until('a0 is down', async () => (await api.agentView('a0')).state === 'degraded');
    const shares = (await api.call('GET', '/api/v1/probe/budget')).body.replicas as Json[];
    expect(shares.map((s) => s.replica_id).sort()).toEqual(['dispatcher-0', 'dispatcher-1', 'dispatcher-2']);
    expect(shares.reduce((sum, s) => sum + s.targets, 0)).toBe(12);

    const victim = centre.dispatchers.findIndex((_, i) =>
      shares.some((s) => s.replica_id === `dispatcher-${i}` && s.targets > 0),
    );
    const killedAt = performance.now();
    await centre.dispatchers[victim]?.kill9();
    const survivors = centre.api(api.namespace).at(centre.urls[(victim + 1) % 3] as string);
    // 900 ms until it counts no more, then an interval.
    await until('everyone is asked again', () =>
      servers.every((s) => s.askedAt.filter((at) => at > killedAt + 1000).length > 1),
    );
    for (const server of servers.slice(1)) expect(server.shortestGapMs(killedAt - 1500)).toBeGreaterThan(450);
    expect(await statesOf(survivors, 'a0')).toEqual(['online', 'suspicious', 'degraded']);
    for (let i = 1; i < servers.length; i++) expect(await statesOf(survivors, `a${i}`)).toEqual(['online']);
  });
});
