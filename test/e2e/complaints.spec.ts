import { Centre, inBothModes } from '../support/centre.js';
import { ProbedServer } from '../support/probed-server.js';
import { until } from '../support/until.js';

/** Nothing but a complaint makes the prober look again within the time of a test. */
const env = {
  REACH_DEPENDENCY_INTERVAL_MS: '600000',
  REACH_MEMBERSHIP_INTERVAL_MS: '300',
  REACH_OUTBOUND_LOOPBACK: 'allow',
};

inBothModes('complaints of agents about what they need', (mode) => {
  const centre = Centre.ofSuite(mode, { env });
  let server: ProbedServer;

  beforeAll(async () => {
    server = await ProbedServer.start();
  });
  afterAll(() => server?.die());

  test('have the dependency looked at at once, and once only, however many complain', async () => {
    const api = centre.api();
    // While replicas come, targets change hands, and a new owner looks for itself.
    await until('all share the probes', async () => {
      const { replicas } = (await api.call('GET', '/api/v1/probe/budget')).body;
      return replicas.length === centre.dispatchers.length;
    });
    const needs = [
      { name: 'search', type: 'http', target: server.url, critical: true, timeout_ms: 5000 },
      { name: 'other', type: 'tcp', target: '127.0.0.1:1' },
    ];
    const agent = await api.agent('a1', { dependencies: needs, max_concurrency: 20 });
    await until('the first look', async () => {
      const { facts } = await api.agentView('a1');
      return facts.dependencies[0].standing === 'good';
    });
    const looks = server.askedAt.length;
    const complain = async (dependency: string) => {
      await api.submit({ capability: 'work', max_attempts: 1 });
      const { delivery_id: delivery } = await agent.begin();
      await agent.fail(delivery, { code: 'DEPENDENCY_DOWN', message: 'no answer', dependency });
    };
    // The word of the agent changes nothing while the dependency answers.
    for (let i = 0; i < 5; i++) await complain('search');
    await until('another look', () => server.askedAt.length > looks);
    await complain('unheard-of');
    // A second apart when they start; on a busy machine one arrives late.
    expect(server.shortestGapMs(0)).toBeGreaterThan(700);
    expect((await api.agentView('a1')).facts.dependencies[0].standing).toBe('good');

    await server.die();
    await complain('search');
    await until('it is down', async () => {
      const { state, state_reason: reason } = await api.agentView('a1');
      return state === 'degraded' && /^critical dependency search \(refused\)/.test(reason);
    });
  });
});
