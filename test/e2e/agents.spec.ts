import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Api } from '../support/api.js';
import { AgentProcess } from '../support/agent-process.js';
import { Centre, inBothModes } from '../support/centre.js';
import { declaration } from '../support/raw-agent.js';
import { until } from '../support/until.js';

/** A lease of 600 ms: three heartbeats of 200. */
const SHORT = { heartbeat_interval_ms: 200, lease_ttl_ms: 600 };

inBothModes('agents', (mode) => {
  const centre = Centre.ofSuite(mode);
  let api: Api;
  const processes: AgentProcess[] = [];

  beforeEach(() => {
    api = centre.api();
  });
  afterEach(() => Promise.all(processes.splice(0).map((p) => p.kill9())));

  const spawnAgent = async (id: string, options: Record<string, unknown> = {}) => {
    const agent = await AgentProcess.start(api, centre.urls, id, { leaseTtlMs: 600, ...options });
    processes.push(agent);
    return agent;
  };

  describe('killed in mid task', () => {
    test('idempotent: another agent runs it', async () => {
      const victim = await spawnAgent('victim');
      const id = await api.submit({ capability: 'work', payload: { hold: true }, idempotent: true });
      await victim.says('begin', id);
      await victim.kill9();
      const heir = await api.agent('heir');
      const offer = await heir.work('by the heir');
      expect(offer).toMatchObject({ task_id: id, attempt: 2 });
      expect(await api.ended(id)).toMatchObject({ state: 'succeeded', result: 'by the heir' });
      expect(await api.attributions(id)).toMatchObject([
        { code: 'REACH_AGENT_LOST', agent_id: 'victim', stage: 'execution', blame: 'agent', final: false },
      ]);
    });

    test('not idempotent: it failed, and is never run again', async () => {
      const victim = await spawnAgent('victim');
      const heir = await api.agent('heir', { capabilities: ['idle'] });
      const id = await api.submit({ capability: 'work', payload: { hold: true } });
      await victim.says('begin', id);
      await victim.kill9();
      await heir.deregister(0);
      const other = await api.agent('other');
      expect(await api.ended(id)).toMatchObject({
        state: 'failed',
        attempt: 1,
        error: { code: 'REACH_AGENT_LOST' },
      });
      expect(await other.offers(1, 300)).toEqual([]);
      const attributions = await api.attributions(id);
      expect(attributions).toMatchObject([{ code: 'REACH_AGENT_LOST', final: true }]);
      expect(attributions[0].message).toContain('not idempotent');
    });

    test('before its ACK: nothing began, so it goes on', async () => {
      const victim = await api.agent('victim', SHORT);
      const id = await api.submit({ capability: 'work', ack_timeout_ms: 60_000 });
      await victim.offer();
      const heir = await api.agent('heir');
      expect((await heir.work()).task_id).toBe(id);
      expect(await api.attributions(id)).toMatchObject([{ code: 'REACH_AGENT_LOST', stage: 'offer' }]);
    });
  });

  describe('leases', () => {
    test('silence makes suspicious, then offline; a heartbeat in between makes online', async () => {
      const agent = await api.agent('a1', { heartbeat_interval_ms: 500, lease_ttl_ms: 3000 });
      const state = async () => (await api.agentView('a1')).state as string;
      await until('suspicious', async () => (await state()) === 'suspicious');
      expect((await agent.heartbeat()).body).toMatchObject({ state: 'online', drain: false });
      expect(await state()).toBe('online');
      await api.agentIs('a1', 'offline');
      expect(await agent.heartbeat()).toMatchObject({ status: 409, body: { code: 'REACH_LEASE_EXPIRED' } });
      const { history } = await api.agentView('a1');
      expect(history.map((h: { to_state: string }) => h.to_state)).toEqual([
        'offline',
        'suspicious',
        'online',
        'suspicious',
        'online',
      ]);
    });

    test('frozen past the lease: heartbeat, claim, ACK and result get 409 and change nothing', async () => {
      const frozen = await api.agent('frozen', { ...SHORT, max_concurrency: 2 });
      const running = await api.submit({ capability: 'work', idempotent: true, payload: 'running' });
      const begun = await frozen.begin();
      const offered = await api.submit({ capability: 'work', payload: 'offered', ack_timeout_ms: 60_000 });
      const offer = await frozen.offer();
      await api.agentIs('frozen', 'offline');
      const heir = await api.agent('heir', { max_concurrency: 2 });
      const taken = [await heir.begin(), await heir.begin()];
      const before = await Promise.all([running, offered].map((id) => api.task(id)));

      expect(await frozen.heartbeat()).toMatchObject({ status: 409, body: { code: 'REACH_LEASE_EXPIRED' } });
      expect(await frozen.claim(1, 0)).toMatchObject({ status: 409, body: { code: 'REACH_LEASE_EXPIRED' } });
      expect((await frozen.ack(offer.delivery_id)).body).toMatchObject({ execute: false });
      for (const late of [
        await frozen.complete(begun.delivery_id, 'late'),
        await frozen.fail(begun.delivery_id, { message: 'late' }),
        await frozen.progress(begun.delivery_id, { extend_ms: 60_000 }),
      ])
        expect(late).toMatchObject({ status: 409, body: { code: 'REACH_DELIVERY_SUPERSEDED' } });
      expect(await Promise.all([running, offered].map((id) => api.task(id)))).toEqual(before);
      for (const { delivery_id } of taken) await heir.complete(delivery_id, 'heir');
      expect((await api.ended(running)).result).toBe('heir');
    });

    test('frozen, its id taken over, thawed: the old process stops and changes nothing', async () => {
      const old = await spawnAgent('twin', { leaseTtlMs: 20_000 });
      const id = await api.submit({ capability: 'work', payload: { work_ms: 300 }, idempotent: true });
      await old.says('begin', id);
      old.freeze();
      const young = await spawnAgent('twin');
      expect(await api.ended(id)).toMatchObject({ state: 'succeeded', attempt: 2 });
      old.thaw();
      await old.says('superseded');
      expect(await old.says('stopped')).toMatchObject({ reason: 'superseded' });
      expect(young.count('begin', id)).toBe(1);
      expect((await api.agentView('twin')).state).toBe('online');
      expect(young.count('superseded')).toBe(0);
      expect((await api.task(id)).deliveries).toMatchObject([
        { state: 'failed', code: 'REACH_AGENT_LOST' },
        { state: 'succeeded' },
      ]);
    }, 120_000);

    test('frozen past its lease, its id taken over meanwhile: thawed, it does not come between', async () => {
      const old = await spawnAgent('twin');
      old.freeze();
      // The lease ends first, so that the end of it is what the old process hears when it wakes up.
      await api.agentIs('twin', 'offline');
      const young = await spawnAgent('twin', { leaseTtlMs: 20_000 });
      old.thaw();
      expect(await old.says('stopped')).toMatchObject({ reason: 'superseded' });
      expect(await old.exited()).toBe(0);
      const id = await api.submit({ capability: 'work' });
      expect(await api.ended(id)).toMatchObject({ state: 'succeeded' });
      expect(young.count('end', id)).toBe(1);
      expect([young.count('superseded'), young.count('lease_lost')]).toEqual([0, 0]);
      const registrations = (await api.agentView('twin')).history.filter(
        (h: { reason: string }) => h.reason === 'registered',
      );
      expect(registrations).toHaveLength(2);
    }, 120_000);

    test('frozen past its lease and nobody came: it registers anew and works', async () => {
      const agent = await spawnAgent('sleeper');
      agent.freeze();
      await api.agentIs('sleeper', 'offline');
      agent.thaw();
      await until('it is registered anew', () => agent.count('registered') === 2);
      const id = await api.submit({ capability: 'work' });
      expect(await api.ended(id)).toMatchObject({ state: 'succeeded' });
    }, 120_000);

    test('a lease that is to be replaced must be the last one', async () => {
      const first = await api.agent('a1');
      const lost = first.lease;
      const second = await first.twin();
      const again = { agent_id: 'a1', capabilities: ['work'], replaces_lease_id: lost };
      expect(await api.post('agent/register', again)).toMatchObject({
        status: 409,
        body: { code: 'REACH_LEASE_SUPERSEDED', retryable: false, agent_id: 'a1' },
      });
      expect((await second.heartbeat()).status).toBe(200);
      expect(await api.post('agent/register', { ...again, replaces_lease_id: second.lease })).toMatchObject({
        status: 201,
        body: { superseded_lease_id: second.lease },
      });
    });

    test('a try to register that arrives after its lease is over takes nothing from the next one', async () => {
      const body = { agent_id: 'a1', capabilities: ['work'], lease_id: randomUUID() };
      expect((await api.post('agent/register', body)).status).toBe(201);
      // The same call sent again is answered again.
      expect((await api.post('agent/register', body)).body.lease_id).toBe(body.lease_id);
      const next = { ...body, lease_id: randomUUID(), replaces_lease_id: body.lease_id };
      expect((await api.post('agent/register', next)).status).toBe(201);
      expect(await api.post('agent/register', body)).toMatchObject({
        status: 409,
        body: { code: 'REACH_LEASE_SUPERSEDED', agent_id: 'a1' },
      });
      const beat = await api.post('agent/lease', { agent_id: 'a1', lease_id: next.lease_id });
      expect(beat.status).toBe(200);
    });

    test('two processes with one id: the loser is told, on every call, and nothing flaps', async () => {
      const first = await api.agent('a1');
      const second = await first.twin();
      const superseded = { status: 409, body: { code: 'REACH_LEASE_SUPERSEDED' } };
      for (let i = 0; i < 5; i++) {
        expect(await first.heartbeat()).toMatchObject(superseded);
        expect(await first.claim(1, 0)).toMatchObject(superseded);
        expect(await second.heartbeat()).toMatchObject({ status: 200, body: { state: 'online' } });
      }
      expect(await first.deregister()).toMatchObject(superseded);
      expect((await api.agentView('a1')).history).toHaveLength(2);
      const id = await api.submit({ capability: 'work' });
      expect((await second.work()).task_id).toBe(id);
    });

    test('the session of the loser is closed, wherever it is', async () => {
      const near = await api.at(centre.dispatcher(0).url).session('s1');
      const far = await api.at(centre.dispatcher(1).url).session('s1');
      const told = await near.frame('error', (f) => f.type === 'error');
      expect(told).toMatchObject({ problem: { code: 'REACH_LEASE_SUPERSEDED' }, fatal: true });
      expect(await near.closed).toBe(1008);
      expect((await far.heartbeat()).lease.state).toBe('online');
      await far.close();
    });

    test('a restart inside the lease is one redispatch, attributed to the restart', async () => {
      const before = await api.agent('a1');
      const [idempotent, once] = [
        await api.submit({ capability: 'work', idempotent: true }),
        await api.submit({ capability: 'once' }),
      ];
      await before.begin();
      const after = await before.twin();
      const again = await after.begin();
      expect(again).toMatchObject({ task_id: idempotent, attempt: 2 });
      await after.complete(again.delivery_id);
      const task = await api.ended(idempotent);
      expect(task.deliveries).toHaveLength(2);
      const attributions = await api.attributions(idempotent);
      expect(attributions).toMatchObject([{ code: 'REACH_AGENT_LOST', evidence: { incident: 'restarted' } }]);
      expect(attributions[0].message).toContain('restarted while it ran the task');
      expect((await api.task(once)).state).toBe('queued');
    });

    test('a lease shorter than three heartbeats is refused with the reason', async () => {
      const answer = await api.post('agent/register', {
        agent_id: 'a1',
        capabilities: ['work'],
        heartbeat_interval_ms: 1000,
        lease_ttl_ms: 2999,
      });
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/lease_ttl_ms' }] } });
      expect(answer.body.detail).toContain('3000 ms');
    });
  });

  describe('leaving', () => {
    test('what runs may finish in the drain time; nothing new comes', async () => {
      const agent = await api.agent('a1', { max_concurrency: 5 });
      const id = await api.submit({ capability: 'work' });
      const offer = await agent.begin();
      expect(await agent.deregister(20_000)).toMatchObject({ status: 200, body: { state: 'removing' } });
      expect((await agent.heartbeat([offer.delivery_id])).body).toMatchObject({
        state: 'removing',
        drain: true,
        stale: [],
      });
      const next = await api.submit({ capability: 'work' });
      expect(await agent.offers(1, 300)).toEqual([]);
      expect(await agent.complete(offer.delivery_id)).toMatchObject({ status: 200 });
      expect((await api.task(id)).state).toBe('succeeded');
      await until('its row is disabled', async () => (await api.agentView('a1')).removed_at !== undefined);
      expect((await api.task(next)).state).toBe('queued');
      expect((await api.get('agents')).body.items).toEqual([]);
      expect((await api.get('agents', { include_removed: true })).body.items).toHaveLength(1);
    });

    test('what does not finish is handed over', async () => {
      const agent = await api.agent('a1', { max_concurrency: 2 });
      const idempotent = await api.submit({ capability: 'work', idempotent: true });
      await agent.begin();
      const fragile = await api.submit({ capability: 'work' });
      await agent.begin();
      await agent.deregister(300);
      const heir = await api.agent('heir');
      expect((await heir.work()).task_id).toBe(idempotent);
      expect(await api.ended(fragile)).toMatchObject({
        state: 'failed',
        error: { code: 'REACH_AGENT_LOST' },
      });
      const [why] = await api.attributions(idempotent);
      expect(why.message).toContain('did not finish within its drain time');
    });

    test('an offer that was not acknowledged goes back at once', async () => {
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work', ack_timeout_ms: 60_000 });
      await agent.offer();
      await agent.deregister(60_000);
      const heir = await api.agent('heir');
      expect(await heir.work()).toMatchObject({ task_id: id, attempt: 1 });
      expect((await api.task(id)).deliveries).toMatchObject([{ state: 'released' }, { state: 'succeeded' }]);
    });

    test('an operator drains: the agent is told by heartbeat and session', async () => {
      const session = await api.session('s1');
      const drained = await api.post(`agents/s1/drain?namespace=${api.namespace}`, { drain_ms: 20_000 });
      expect(drained).toMatchObject({ status: 200, body: { state: 'removing' } });
      await session.frame('drain', (f) => f.type === 'drain');
      const { history } = await api.agentView('s1');
      expect(history[0]).toMatchObject({ to_state: 'removing', reason: 'drained by an operator' });
      expect((await api.post(`agents/nobody/drain?namespace=${api.namespace}`, {})).status).toBe(404);
      await session.close();
    });

    test('an agent process that is asked to end hands nothing over', async () => {
      const agent = await spawnAgent('a1');
      const id = await api.submit({ capability: 'work', payload: { work_ms: 500 } });
      await agent.says('begin', id);
      expect(await agent.terminate()).toBe(0);
      expect(await api.ended(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
    });

    test('removed agents come back by registering only, also over a restart of the centre', async () => {
      const agent = await api.agent('a1');
      const leaving = await api.agent('a2');
      const open = await api.submit({ capability: 'work', agent_id: 'a2', idempotent: true });
      await leaving.begin();
      await agent.deregister(0);
      await leaving.deregister(60_000);
      await until('disabled', async () => (await api.agentView('a1')).removed_at !== undefined);
      for (const dispatcher of centre.dispatchers) {
        await dispatcher.kill9();
        await dispatcher.start();
      }
      expect(await agent.heartbeat()).toMatchObject({ status: 409, body: { code: 'REACH_LEASE_EXPIRED' } });
      expect((await leaving.heartbeat()).body).toMatchObject({ state: 'removing' });
      const waits = await api.submit({ capability: 'work' });
      expect(await leaving.offers(1, 500)).toEqual([]);
      expect(await api.agentView('a1')).toMatchObject({ state: 'removing' });
      expect(await api.agentView('a2')).toMatchObject({ state: 'removing' });
      expect((await api.task(waits)).state).toBe('queued');
      await agent.register();
      expect((await agent.work()).task_id).toBe(waits);
      expect((await api.task(open)).state).toBe('running');
    }, 120_000);
  });

  test('tries to register that were given up while the dispatcher stood still take no lease from the one that followed', async () => {
    const dispatcher = centre.dispatcher(0);
    const { hostname, port } = new URL(dispatcher.url);
    const body = JSON.stringify({ ...declaration('a1', {}), namespace: api.namespace });
    const head = `POST /api/v1/agent/register HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\n`;
    const send = async () => {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      const rest = `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
      await new Promise((resolve) => socket.write(head + rest, resolve));
      return socket;
    };
    dispatcher.signal('SIGSTOP');
    try {
      for (let i = 0; i < 5; i++) (await send()).destroy();
    } finally {
      // The last one is waited for.
      const answered = send().then((socket) => text(socket));
      dispatcher.signal('SIGCONT');
      const answer = await answered;
      expect(answer).toContain('HTTP/1.1 201');
      const { lease_id } = JSON.parse(answer.slice(answer.indexOf('{'))) as { lease_id: string };
      const beat = await api.at(dispatcher.url).post('agent/lease', { agent_id: 'a1', lease_id });
      expect(beat.status).toBe(200);
      expect(await api.statesOf('a1')).toEqual(['online']);
    }
  });
});
