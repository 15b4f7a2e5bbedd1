import { AgentProcess } from '../support/agent-process.js';
import type { Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { FeedReader } from '../support/feed-reader.js';
import { ProbedServer } from '../support/probed-server.js';
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
  const centre = Centre.ofSuite(mode, { env, dispatchers: 1 });
  const servers: ProbedServer[] = [];
  afterAll(() => Promise.all(servers.map((s) => s.die())));

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
    expect(await api.statesOf('needing')).toEqual(['online']);
    expect(await api.statesOf('echoing')).toEqual(['online']);
    await echoing.kill9();
  });

  test('sees most of a namespace turn bad at once, and tells it only once confirmed', async () => {
    const api = centre.api();
    const server = await ProbedServer.start();
    servers.push(server);
    const ids = Array.from({ length: 6 }, (_, i) => `a${i}`);
    await Promise.all(ids.map((id) => api.agent(id, needing(server))));
    await until('asked', () => server.askedAt.length > 1);
    const feed = await FeedReader.open(api, { type: 'doubt' });
    await server.die();
    const mass = () => feed.events.find((e) => e.evidence.kind === 'mass');
    await until('it doubts itself', () => mass() !== undefined);
    expect(await api.call('GET', '/readyz')).toMatchObject({
      status: 200,
      body: { ready: true, checks: { prober: `verdicts wait to be confirmed: ${mass().reason}` } },
    });
    await feed.close();
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
  const centre = Centre.ofSuite(mode, { env, dispatchers: 1 });

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
