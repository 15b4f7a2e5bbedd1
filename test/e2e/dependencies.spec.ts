import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { ProbedServer } from '../support/probed-server.js';
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
  const history = async (id: string) => (await api.agentView(id)).history as Json[];
  const asked = (server: ProbedServer, times: number) =>
    until(`asked ${times} times more`, () => server.askedAt.length >= times);

  test('the death of a critical one takes the agent out, its return brings it back', async () => {
    const server = await serverOf();
    const agent = await api.agent('a1', needs(server));
    await asked(server, 2);
    await server.die();
    await api.agentIs('a1', 'degraded');
    const id = await api.submit({ capability: 'work' });
    expect(await agent.offers(1, 300)).toEqual([]);
    const [latest] = await history('a1');
    expect(latest).toMatchObject({
      reason: 'critical dependency search (refused) is down',
      evidence: { dependency: 'search', probe: { kind: 'http', ok: false, fault: 'refused', failures: 3 } },
    });
    await server.revive();
    await api.agentIs('a1', 'online');
    expect((await agent.work()).task_id).toBe(id);
    expect(await api.statesOf('a1')).toEqual(['online', 'suspicious', 'degraded', 'online']);
  });

  test('an optional one that is down is told, and the agent goes on working', async () => {
    const server = await serverOf();
    server.status = 503;
    const agent = await api.agent('a1', needs(server, { critical: false }));
    await api.agentIs('a1', 'degraded');
    expect((await history('a1'))[0].reason).toBe('optional dependency search (server_error) is down');
    const id = await api.submit({ capability: 'work' });
    expect((await agent.work()).task_id).toBe(id);
  });

  test('agents that share one share its probes, and one that comes later is told at once', async () => {
    const server = await serverOf();
    await Promise.all(['a1', 'a2', 'a3'].map((id) => api.agent(id, needs(server))));
    await asked(server, 2);
    server.status = 503;
    await Promise.all(['a1', 'a2', 'a3'].map((id) => api.agentIs(id, 'degraded')));
    expect(server.shortestGapMs(0)).toBeGreaterThan(450);
    await api.agent('late', needs(server));
    await api.agentIs('late', 'degraded');
  });

  test('a flapping one makes one change, not one each time', async () => {
    const server = await serverOf();
    await api.agent('a1', needs(server));
    await asked(server, 2);
    for (let i = 0; i < 6; i++) {
      server.status = i % 2 === 0 ? 503 : 200;
      await asked(server, server.askedAt.length + 1);
    }
    expect(await api.statesOf('a1')).toEqual(['online', 'suspicious']);
  });

  test('the agent another agent needs is judged by its state', async () => {
    const needed = await api.agent('needed', QUIET);
    const dependencies = [{ name: 'peer', type: 'agent', target: 'needed', critical: true }];
    await api.agent('a1', { ...QUIET, dependencies });
    await needed.deregister(60_000);
    await api.agentIs('a1', 'degraded');
    expect((await history('a1'))[0].reason).toMatch(
      /^critical dependency peer \((removing|unregistered)\) is down$/,
    );
    await needed.register();
    await api.agentIs('a1', 'online');
  });

  test('of a group that another agent needs one instance that works is enough', async () => {
    const group = { ...QUIET, name: 'summarizer' };
    const dependencies = [{ name: 'peers', type: 'agent', target: 'summarizer', critical: true }];
    await api.agent('reporter', { ...QUIET, dependencies });
    await api.agentIs('reporter', 'degraded');
    const first = await api.agent('summarizer-1', group);
    const second = await api.agent('summarizer-2', group);
    await api.agentIs('reporter', 'online');
    await first.deregister(60_000);
    await second.deregister(60_000);
    await api.agentIs('reporter', 'degraded');
    expect(await api.statesOf('reporter')).toEqual(['online', 'degraded', 'online', 'degraded']);
  });
});
