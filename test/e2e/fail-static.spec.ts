import type { Api, Json } from '../support/api.js';
import { Centre } from '../support/centre.js';
import type { LogLine } from '../support/dispatcher.js';
import { FeedReader } from '../support/feed-reader.js';
import { denyFiles } from '../support/file-limit.js';
import { type PrivatePostgres, startPrivatePostgres } from '../support/postgres.js';
import { ProbedServer } from '../support/probed-server.js';
import { until } from '../support/until.js';

/* A prober that has reason to doubt itself: what it finds meanwhile is held against nobody. */

const at = (event: Json) => Date.parse(event.at);

/** What the feed tells of the canary from a time on: on a busy machine there are stalls as well. */
async function canaryOf(api: Api, sinceMs: number): Promise<[Json, Json]> {
  const feed = await FeedReader.open(api, { type: 'doubt,trust' }, '0');
  const told = () => feed.events.filter((e) => e.evidence.kind === 'canary' && at(e) >= sinceMs);
  await until('told', () => told().length > 1);
  await feed.close();
  return told().slice(0, 2) as [Json, Json];
}
const isDoubt = (line: LogLine) => line.event === 'reach_prober_doubt' && line['kind'] === 'canary';
const isTrust = (line: LogLine) => line.event === 'reach_prober_trust' && line['kind'] === 'canary';
const historyOf = async (api: Api, id: string) => ((await api.agentView(id)).history as Json[]).reverse();

describe('while PostgreSQL stands still', () => {
  let postgres: PrivatePostgres;
  let centre: Centre;
  let server: ProbedServer;

  beforeAll(async () => {
    postgres = await startPrivatePostgres();
    const env = {
      REACH_DEPENDENCY_INTERVAL_MS: '1000',
      // A replica that cannot renew its row for three of them leaves the probes to others.
      REACH_MEMBERSHIP_INTERVAL_MS: '30000',
      REACH_OUTBOUND_LOOPBACK: 'allow',
    };
    centre = await Centre.start('embedded', { databaseUrl: postgres.url, env });
    server = await ProbedServer.start();
  }, 120_000);
  afterAll(async () => {
    postgres?.resume();
    await centre?.stop();
    await postgres?.stop();
    await server?.die();
  });

  test('verdicts are frozen, and what fails counts from the first time again once trust is back', async () => {
    const api = centre.api();
    const dispatcher = centre.dispatcher(0);
    const dependencies = [
      { name: 'search', type: 'http', target: server.url, critical: true, timeout_ms: 1000 },
    ];
    await api.agent('a1', { lease_ttl_ms: 600_000, dependencies });
    await until('probed', async () => (await api.agentView('a1')).facts.dependencies[0].standing === 'good');

    const begunMs = Date.now();
    const before = dispatcher.log.length;
    postgres.pause();
    await dispatcher.logged('doubt', isDoubt, before);
    server.status = 503;
    const asked = server.askedAt.length;
    await until('failed often enough to be down', () => server.askedAt.length > asked + 4);
    const ready = await api.call('GET', '/readyz');
    expect(ready.body.checks.prober).toMatch(/^verdicts are frozen: PostgreSQL does not answer: /);

    postgres.resume();
    await api.agentIs('a1', 'degraded');
    const [doubt, trust] = await canaryOf(api, begunMs);
    expect([doubt.type, trust.type]).toEqual(['doubt', 'trust']);
    const [online, suspicious, degraded, ...more] = await historyOf(api, 'a1');
    expect([online.to_state, suspicious.to_state, degraded.to_state, more]).toEqual([
      'online',
      'suspicious',
      'degraded',
      [],
    ]);
    expect(suspicious.evidence.probe.failures).toBe(1);
    expect(degraded.evidence.probe.failures).toBe(3);
    expect(Date.parse(suspicious.evidence.probe.at)).toBeGreaterThanOrEqual(at(trust));
    expect((await api.call('GET', '/readyz')).body.checks.prober).toBe('ok');
  });
});

describe('while nobody can connect to the centre', () => {
  const LEASE_MS = 8000;
  const centre = Centre.ofSuite('embedded');

  test('no lease ends, until the prober has trusted itself for one full lease', async () => {
    const api = centre.api();
    const dispatcher = centre.dispatcher(0);
    await api.agent('silent', { heartbeat_interval_ms: 2000, lease_ttl_ms: LEASE_MS });
    const begunMs = Date.now();
    // It has all connections to its database that it may need.
    await Promise.all(Array.from({ length: 50 }, () => api.get('agents')));
    const before = dispatcher.log.length;
    const allow = denyFiles(dispatcher.pid as number);
    try {
      const told = await dispatcher.logged('doubt', isDoubt, before);
      expect(told['reason']).toMatch(/^our own port does not answer: .*EMFILE/);
      // Over a connection from before.
      const { checks } = (await api.call('GET', '/readyz')).body;
      expect(checks.prober).toBe(`verdicts are frozen: ${String(told['reason'])}`);
      await until('the lease is over by far', () => Date.now() - begunMs > LEASE_MS + 2000);
    } finally {
      allow();
    }
    await dispatcher.logged('trust', isTrust, before);
    const [doubt, trust] = await canaryOf(api, begunMs);
    expect([doubt.type, trust.type]).toEqual(['doubt', 'trust']);
    await api.agentIs('silent', 'offline');
    const history = await historyOf(api, 'silent');
    expect(at(history.at(-1)) - at(trust)).toBeGreaterThan(LEASE_MS - 200);
  });
});
