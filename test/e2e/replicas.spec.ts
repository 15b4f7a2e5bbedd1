import { AgentProcess } from '../support/agent-process.js';
import type { Json } from '../support/api.js';
import { Centre } from '../support/centre.js';
import type { Dispatcher } from '../support/dispatcher.js';
import { ProbedServer } from '../support/probed-server.js';
import { describeWithRedisServer } from '../support/redis.js';
import { until } from '../support/until.js';

const env = {
  REACH_DEPENDENCY_INTERVAL_MS: '1000',
  REACH_MEMBERSHIP_INTERVAL_MS: '300',
  REACH_ECHO_INTERVAL_MS: '500',
  REACH_ECHO_TIMEOUT_MS: '2500',
  REACH_PROBE_INTERVAL_L1_MS: '1000',
};
const QUIET = { heartbeat_interval_ms: 60_000, lease_ttl_ms: 600_000 };
/** The lease of an agent that says nothing else. */
const LEASE_MS = 45_000;

/** The sum of a metric's values where its labels match; 0 of one that does not run. */
async function metric(dispatcher: Dispatcher, name: string, labels: RegExp): Promise<number> {
  if (dispatcher.pid === undefined) return 0;
  const text = await (await fetch(`${dispatcher.url}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && labels.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describeWithRedisServer('replicas share the probes', () => {
  const centre = Centre.ofSuite('distributed', { env, dispatchers: 3, zones: ['east', 'west'] });
  const servers: ProbedServer[] = [];
  beforeAll(async () => {
    servers.push(...(await Promise.all(Array.from({ length: 12 }, () => ProbedServer.start()))));
  });
  afterAll(() => Promise.all(servers.map((s) => s.die())));

  /** Every dispatcher counts on every other one. */
  const complete = () =>
    until('all share the probes', async () => {
      const answers = await Promise.all(
        centre
          .api()
          .each()
          .map((api) => api.call('GET', '/api/v1/probe/budget')),
      );
      return answers.every(({ body }) => body.replicas.length === 3);
    });

  test('nobody is probed by two, and the share of one that dies goes on with the others, nothing forgotten', async () => {
    const api = centre.api();
    await complete();
    await Promise.all(
      servers.map((server, i) => {
        const needs = { name: 'it', type: 'http', target: server.url, critical: true, timeout_ms: 5000 };
        return api.agent(`a${i}`, { ...QUIET, dependencies: [needs] });
      }),
    );
    const [failing] = servers as [ProbedServer];
    failing.status = 503;
    await api.agentIs('a0', 'degraded');
    const shares = (await api.call('GET', '/api/v1/probe/budget')).body.replicas as Json[];
    expect(shares.map((s) => s.replica_id).sort()).toEqual(['dispatcher-0', 'dispatcher-1', 'dispatcher-2']);
    expect(shares.reduce((sum, s) => sum + s.targets, 0)).toBe(12);

    const failures = await Promise.all(
      centre.dispatchers.map((d) => metric(d, 'reach_probe_failures_total', /layer="http"/)),
    );
    expect(failures.filter((n) => n > 0)).toHaveLength(1);
    const victim = failures.findIndex((n) => n > 0);
    const killedAt = performance.now();
    await centre.dispatcher(victim).kill9();
    const survivors = api.at(centre.dispatcher(victim + 1).url);
    // 900 ms until it counts no more, then an interval.
    await until(
      'everyone is asked again',
      () => servers.every((s) => s.askedAt.filter((at) => at > killedAt + 1000).length > 1),
      LEASE_MS,
    );
    for (const server of servers.slice(1)) expect(server.shortestGapMs(killedAt - 1500)).toBeGreaterThan(450);
    expect(await survivors.statesOf('a0')).toEqual(['online', 'suspicious', 'degraded']);
    for (let i = 1; i < servers.length; i++) expect(await survivors.statesOf(`a${i}`)).toEqual(['online']);

    failing.status = 200;
    await survivors.agentIs('a0', 'online');
    const { history } = await survivors.agentView('a0');
    expect(history[0]).toMatchObject({ from_state: 'degraded', evidence: { probe: { kind: 'http' } } });
    await centre.dispatcher(victim).start();
  });

  test('an agent whose replica dies is asked by the one it goes to, before its lease is over', async () => {
    const api = centre.api();
    await complete();
    const options = { heartbeatIntervalMs: 60_000, leaseTtlMs: 600_000, answerTimeoutMs: 60_000 };
    const agent = await AgentProcess.start(api, centre.urls, 'moving', options);
    try {
      const echoes = () =>
        Promise.all(
          centre.dispatchers.map((d) => metric(d, 'reach_probe_duration_seconds_count', /layer="echo"/)),
        );
      await until('it is asked', async () => (await echoes()).some((n) => n > 2));
      const before = await echoes();
      const holder = before.findIndex((n) => n > 0);
      expect(before.filter((n) => n > 0)).toHaveLength(1);
      await centre.dispatcher(holder).kill9();
      const survivors = api.at(centre.dispatcher(holder + 1).url);
      await until('it is asked again', async () => (await echoes()).some((n) => n > 2), LEASE_MS);
      expect(await survivors.statesOf('moving')).toEqual(['online']);
      agent.freeze();
      await survivors.agentIs('moving', 'suspicious');
      agent.thaw();
      await survivors.agentIs('moving', 'online');
      await centre.dispatcher(holder).start();
    } finally {
      await agent.kill9();
    }
  });

  test('what is in a zone is probed from there, and from elsewhere only while nobody is there', async () => {
    const api = centre.api();
    await complete();
    const west = centre.dispatcher(1);
    const elsewhere = [centre.dispatcher(0), centre.dispatcher(2)];
    const metadata = { zone: 'west' };
    // Kinds of probes that nothing else here has.
    const kinds = /layer="(tcp|l1|l2)"/;
    const probes = async (those: readonly Dispatcher[]) => {
      const counts = await Promise.all(
        those.map((d) => metric(d, 'reach_probe_duration_seconds_count', kinds)),
      );
      return counts.reduce((sum, n) => sum + n, 0);
    };
    const endpoint = (servers[0] as ProbedServer).url;
    await api.agent('pushed', { ...QUIET, transport: 'push', endpoint, metadata });
    const needing = servers.slice(1, 7).map((server, i) => {
      const needs = { name: 'it', type: 'tcp', target: new URL(server.url).host, critical: true };
      return api.agent(`w${i}`, { ...QUIET, dependencies: [needs], metadata });
    });
    await Promise.all(needing);
    const rounds = 3 * (needing.length + 1);
    await until('the west is busy', async () => (await probes([west])) >= rounds);
    expect(await probes(elsewhere)).toBe(0);

    await west.kill9();
    await until('others do it', async () => (await probes(elsewhere)) >= rounds);
    const survivor = api.at(centre.dispatcher(0).url);
    for (const id of ['pushed', 'w0', 'w1', 'w2', 'w3', 'w4', 'w5'])
      expect(await survivor.statesOf(id)).toEqual(['online']);

    await west.start();
    await until('the west is busy again', async () => (await probes([west])) > 0);
    const before = await probes(elsewhere);
    await until('and stays so', async () => (await probes([west])) >= rounds);
    expect(await probes(elsewhere)).toBe(before);
  });
});
