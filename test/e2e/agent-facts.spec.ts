import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { until } from '../support/until.js';

/* What an agent's state is judged from, as operators see and change it. */

inBothModes('facts about agents', (mode) => {
  const centre = Centre.ofSuite(mode);
  let api: Api;

  beforeEach(() => {
    api = centre.api();
  });

  const order = (id: string, what: string, body?: object) =>
    api.call('POST', `/api/v1/agents/${encodeURIComponent(id)}/${what}?namespace=${api.namespace}`, body);

  test('a held agent gets no work, whoever asks is told why, and it works again once released', async () => {
    const agent = await api.agent('a:1/ü');
    const held = await order('a:1/ü', 'hold', { reason: 'new disk' });
    expect(held.status).toBe(200);
    expect(held.body).toMatchObject({ state: 'online', held: { reason: 'new disk' } });
    const id = await api.submit({ capability: 'work', payload: 1 });
    await until('the hold is why', async () => {
      const { body } = await api.get(`tasks/${id}/explain`);
      return /a:1\/ü held by an operator: new disk/.test(body.headline as string);
    });
    expect(await agent.offers(1, 200)).toEqual([]);
    await agent.heartbeat();
    // A hold belongs to the id, not to the process that uses it.
    await agent.register();
    expect((await api.agentView('a:1/ü')).held).toMatchObject({ reason: 'new disk' });
    expect((await api.get('capabilities')).body.items).toMatchObject([{ agents: 1, reachable: 0 }]);
    const released = await order('a:1/ü', 'release');
    expect(released.status).toBe(200);
    expect(released.body.held).toBeUndefined();
    expect(await agent.work('done')).toMatchObject({ task_id: id });
    expect((await order('a:1/ü', 'release')).status).toBe(200);
    // Who, why and when; an order that changes nothing leaves no trace.
    const evidence = { by: 'anonymous' };
    const states = { from_state: 'online', to_state: 'online' };
    expect((await api.agentView('a:1/ü')).history).toMatchObject([
      { kind: 'release', reason: 'new disk', evidence, ...states },
      { kind: 'transition', reason: 'registered' },
      { kind: 'hold', reason: 'new disk', evidence, ...states },
      { kind: 'transition', reason: 'registered', from_state: null },
    ]);
  });

  test('what cannot be held is said to be missing, what is no reason is refused', async () => {
    await api.agent('a1');
    expect(await order('nobody', 'hold', {})).toMatchObject({
      status: 404,
      body: { code: 'REACH_NOT_FOUND' },
    });
    expect(await order('nobody', 'release')).toMatchObject({ status: 404 });
    expect(await order('a1', 'hold', { reason: 'x'.repeat(501) })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/reason' }] },
    });
    expect((await order('a1', 'hold')).body.held).toMatchObject({ reason: '' });
  });

  test('the view tells the facts behind the state, and what the agent did of late', async () => {
    const agent = await api.agent('a1', {
      dependencies: [{ name: 'db', type: 'tcp', target: '127.0.0.1:1' }],
    });
    const fresh = await api.agentView('a1');
    expect(fresh.facts).toMatchObject({
      lease: 'live',
      heartbeat: 'fresh',
      session: 'none',
      leaving: false,
      dependencies: [{ name: 'db', type: 'tcp', critical: false }],
    });
    expect(fresh.facts.warm_up).toBeUndefined();
    const id = await api.submit({ capability: 'work', payload: 1 });
    await agent.work('done');
    await api.ended(id);
    // The replica that took the result tells the others.
    let seen: Json[] = [];
    await until('every replica knows what it did', async () => {
      seen = await Promise.all(api.each().map(async (one) => (await one.agentView('a1')).windows.work));
      return !seen.includes(undefined);
    });
    const one = { samples: 1, success_rate: 1, consecutive_failures: 0, silent: false };
    expect(seen).toMatchObject(seen.map(() => one));
    expect(seen[0].p95_ms).toBeLessThan(20_000);
    expect(seen[0].score).toBeGreaterThan(0.8);
  });

  test('a session that broke is a fact, and so is the heartbeat that takes it back', async () => {
    const session = await api.session('s1');
    expect((await api.agentView('s1')).facts.session).toBe('open');
    session.cut();
    await api.agentIs('s1', 'suspicious');
    expect((await api.agentView('s1')).facts.session).toBe('broken');
    const { body } = await api.post('agent/lease', { agent_id: 's1', lease_id: session.lease });
    expect(body).toMatchObject({ state: 'online' });
    const after = await api.agentView('s1');
    expect(after.facts).toMatchObject({ session: 'none', heartbeat: 'fresh' });
    expect(after.history.slice(0, 2)).toMatchObject([
      { from_state: 'suspicious', to_state: 'online' },
      { to_state: 'suspicious', reason: 'session broken', facts: { session: 'broken' } },
    ]);
  });

  test('a cold agent gets work only where no warm one could do it', async () => {
    const cold = await api.agent('cold', { features: ['echo'], capabilities: ['work', 'other'] });
    const { facts } = await api.agentView('cold');
    expect(facts.warm_up).toEqual({ passed: false, good: 0, needed: 50 });
    expect((await api.get('agents', { facts: true })).body.items).toMatchObject([
      { agent_id: 'cold', facts },
    ]);
    expect((await api.get('agents')).body.items[0]).not.toHaveProperty('facts');
    const alone = await api.submit({ capability: 'work', payload: 1 });
    expect(await cold.work('beats none')).toMatchObject({ task_id: alone });
    const warm = await api.agent('warm');
    await until('every dispatcher knows both', async () => {
      const answers = await Promise.all(api.each().map((one) => one.get('capabilities')));
      return answers.every(({ body }) =>
        body.items.some((c: Json) => c.capability === 'work' && c.agents === 2),
      );
    });
    const ids = await Promise.all([1, 2].map((payload) => api.submit({ capability: 'work', payload })));
    const other = await api.submit({ capability: 'other', payload: 1 });
    expect(await cold.work('nobody else can')).toMatchObject({ task_id: other });
    expect(await cold.offers(1, 200)).toEqual([]);
    const done = [await warm.work('one'), await warm.work('two')].map((offer) => offer.task_id as string);
    expect(done.sort()).toEqual(ids.sort());
  });
});
