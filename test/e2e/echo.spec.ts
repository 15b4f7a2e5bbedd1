import { AgentProcess } from '../support/agent-process.js';
import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { ProbedServer } from '../support/probed-server.js';
import { until } from '../support/until.js';

const env = {
  REACH_ECHO_INTERVAL_MS: '300',
  REACH_ECHO_TIMEOUT_MS: '1000',
  REACH_WARM_UP_PROBES: '5',
  REACH_PROBE_INTERVAL_L1_MS: '300',
  REACH_PROBE_INTERVAL_L3_MS: '500',
  REACH_OUTBOUND_LOOPBACK: 'allow',
};
/** Nothing but an echo tells anything about such an agent for the time of a test. */
const QUIET = { heartbeatIntervalMs: 60_000, leaseTtlMs: 600_000 };

inBothModes('echo', (mode) => {
  const centre = Centre.ofSuite(mode, { env });
  let api: Api;
  const processes: AgentProcess[] = [];

  beforeEach(() => {
    api = centre.api();
  });
  afterEach(() => Promise.all(processes.splice(0).map((p) => p.kill9())));

  test('an agent that stands still gets no work, and is back after two good echoes', async () => {
    const agent = await AgentProcess.start(api, centre.urls, 'frozen', QUIET);
    processes.push(agent);
    agent.freeze();
    await api.agentIs('frozen', 'suspicious');
    const [latest] = (await api.agentView('frozen')).history as Json[];
    expect(latest.reason).toMatch(/^echo /);
    expect(latest.evidence.probe).toMatchObject({ kind: 'echo', ok: false, fault: 'total_timeout' });
    agent.thaw();
    await api.agentIs('frozen', 'online');
  });

  test('an agent that never said that it answers is not asked', async () => {
    const mute = await api.session('mute', { heartbeat_interval_ms: 60_000 });
    const answers = await api.session('answers', { heartbeat_interval_ms: 60_000, features: ['echo'] });
    for (let i = 0; i < 5; i++) {
      const { ref } = await answers.frame('echo', (f) => f.type === 'echo');
      answers.send({ type: 'echo', ref, ok: true, echo: 'reachable' });
    }
    await expect(mute.ask({ type: 'heartbeat' })).resolves.toMatchObject({ type: 'heartbeat' });
    expect(mute.pending()).toEqual([]);
    expect((await api.agentView('mute')).state).toBe('online');
  });

  test('an agent that is only busy keeps what it runs, and says that its loop was blocked', async () => {
    const agent = await AgentProcess.start(api, centre.urls, 'busy', { ...QUIET, heartbeatIntervalMs: 1000 });
    processes.push(agent);
    const id = await api.submit({ capability: 'work', payload: { block_ms: 4000 }, ack_timeout_ms: 20_000 });
    // The next heartbeat after it has nothing of the kind to tell any more.
    const told = until('told', async () => (await api.agentView('busy')).capacity.loop_delay_ms > 3000);
    await api.agentIs('busy', 'suspicious');
    expect(await api.ended(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
    await api.agentIs('busy', 'online');
    await told;
  });

  test('an agent that is pushed to is asked at its endpoint: its probe tool, and whether anybody listens', async () => {
    const server = await ProbedServer.start();
    const well = '{"ok":true,"echo":"reachable"}';
    server.body = well;
    try {
      const options = { transport: 'push', endpoint: server.url, features: ['echo'] };
      await api.agent('pushed', { heartbeat_interval_ms: 60_000, lease_ttl_ms: 600_000, ...options });
      const latest = async () => ((await api.agentView('pushed')).history as Json[])[0];
      server.body = '{"ok":false,"detail":"no model"}';
      await api.agentIs('pushed', 'suspicious');
      expect((await latest()).evidence.probe).toMatchObject({ kind: 'l3', fault: 'wrong_answer' });
      server.body = well;
      await api.agentIs('pushed', 'online');
      await server.die();
      await api.agentIs('pushed', 'suspicious');
      expect((await latest()).evidence.probe).toMatchObject({ ok: false, fault: 'refused' });
      await server.revive();
      await api.agentIs('pushed', 'online');
    } finally {
      await server.die();
    }
  });

  test('an agent whose probe tool fails is suspicious with what it said, though it answers plain echoes', async () => {
    const agent = await api.session('sick', { heartbeat_interval_ms: 60_000, features: ['echo'] });
    let wellAgain = false;
    let told = false;
    const answering = (async () => {
      while (!told) {
        const { ref, deep } = await agent.frame('echo', (f) => f.type === 'echo');
        const well = wellAgain || !deep;
        agent.send({
          type: 'echo',
          ref,
          ok: well,
          ...(well ? { echo: 'reachable' } : { detail: 'no model\u0000' }),
        });
      }
    })();
    agent.send({ ref: 1000, type: 'heartbeat', capacity: { pool_usage: 0, queued: 0 } });
    await api.agentIs('sick', 'suspicious');
    const [latest] = (await api.agentView('sick')).history as Json[];
    expect(latest.evidence.probe).toMatchObject({
      kind: 'l3',
      fault: 'wrong_answer',
      detail: 'no model\uFFFD',
    });
    wellAgain = true;
    await api.agentIs('sick', 'online');
    told = true;
    await answering;
  });
});
