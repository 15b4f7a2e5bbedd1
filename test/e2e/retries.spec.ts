import { Agent } from '@agent-reach/sdk';
import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';

inBothModes('failed attempts', (mode) => {
  const centre = Centre.ofSuite(mode);
  let api: Api;

  beforeEach(() => {
    api = centre.api();
  });

  /** Gaps between the end of an attempt and the start of the next, in ms. */
  const gaps = (task: Json): number[] =>
    task.deliveries
      .slice(1)
      .map((d: Json, i: number) => Date.parse(d.offered_at) - Date.parse(task.deliveries[i].finished_at));

  test('an error of an idempotent task is tried again, with a pause that doubles, to the last attempt', async () => {
    const agent = await api.agent('a1');
    const id = await api.submit({ capability: 'work', idempotent: true, max_attempts: 4 });
    for (let i = 1; i <= 4; i++) {
      const offer = await agent.begin();
      const report = { code: 'AGENT_ERROR', message: `try ${i}`, raw_error: { line: i } };
      const answer = await agent.fail(offer.delivery_id, report);
      expect(answer.body.state).toBe(i < 4 ? 'scheduled' : 'failed');
    }
    const task = await api.ended(id);
    expect(task).toMatchObject({
      state: 'failed',
      attempt: 4,
      error: { code: 'REACH_AGENT_ERROR', agent_id: 'a1', retryable: true, raw_error: { line: 4 } },
    });
    const [first = 0, second = 0, third = 0] = gaps(task);
    expect(first).toBeGreaterThanOrEqual(47);
    expect(second).toBeGreaterThanOrEqual(95);
    expect(third).toBeGreaterThanOrEqual(190);
    const attributions = await api.attributions(id);
    expect(attributions.map((a) => [a.attempt, a.final])).toEqual([
      [1, false],
      [2, false],
      [3, false],
      [4, true],
    ]);
    expect(attributions.map((a) => a.delivery_id)).toEqual(task.deliveries.map((d: Json) => d.delivery_id));
    expect(attributions[0].evidence.raw_error).toEqual({ line: 1 });
    expect(attributions[3].message).toBe('agent a1 reported an error: try 4; no attempts are left');
  });

  test('once every agent has tried it, they take turns', async () => {
    const no = () => {
      throw new Error('no');
    };
    const options = { url: centre.urls, namespace: api.namespace, capabilities: { work: no } };
    const agents = ['a1', 'a2'].map((agentId) => new Agent({ ...options, agentId }));
    await Promise.all(agents.map((agent) => agent.start()));
    const id = await api.submit({ capability: 'work', idempotent: true, max_attempts: 6 });
    const who = (await api.ended(id)).deliveries.map((d: Json) => d.agent_id);
    await Promise.all(agents.map((agent) => agent.stop({ drainMs: 0 })));
    expect(who).toHaveLength(6);
    for (let i = 1; i < who.length; i++) expect(who[i]).not.toBe(who[i - 1]);
  });

  test('an agent that fails all it gets is left alone while another can do the work, be it busy', async () => {
    const bad = await api.agent('bad');
    // Nobody else is there, so it gets all of them.
    for (let i = 0; i < 4; i++) {
      await api.submit({ capability: 'work' });
      await bad.fail((await bad.begin()).delivery_id, { message: 'no' });
    }
    const good = await api.agent('good');
    const busy = await api.submit({ capability: 'work' });
    const held = await good.begin();
    expect(held.task_id).toBe(busy);
    const waits = await api.submit({ capability: 'work' });
    const { body } = await api.get(`tasks/${waits}/explain`);
    expect(body.headline).toMatch(
      /bad ejected by its breaker: 4 calls running failed; it is tried again in \d+ s/,
    );
    expect(await bad.offers(1, 0)).toEqual([]);
    await good.complete(held.delivery_id);
    expect(await good.work()).toMatchObject({ task_id: waits });
  });

  test('an error of a task that is not idempotent is final', async () => {
    const agent = await api.agent('a1');
    const id = await api.submit({ capability: 'work' });
    const offer = await agent.begin();
    expect((await agent.fail(offer.delivery_id, { message: 'no' })).body.state).toBe('failed');
    expect(await api.attributions(id)).toMatchObject([{ final: true, attempt: 1, blame: 'agent' }]);
  });

  test('an agent may say that trying again is of no use', async () => {
    const agent = await api.agent('a1');
    const id = await api.submit({ capability: 'work', idempotent: true });
    const offer = await agent.begin();
    await agent.fail(offer.delivery_id, { message: 'never', retryable: false });
    expect(await api.ended(id)).toMatchObject({ state: 'failed', attempt: 1 });
  });

  test('an agent that declines is passed over, idempotent or not', async () => {
    const picky = await api.agent('picky');
    const id = await api.submit({ capability: 'work' });
    const offer = await picky.begin();
    // There before the refusal: with nobody else around the task would go to the same agent again.
    const other = await api.agent('other');
    await picky.fail(offer.delivery_id, { code: 'AGENT_REFUSED', message: 'context too long' });
    expect(await other.work()).toMatchObject({ task_id: id, attempt: 2 });
    expect(await picky.offers(1, 0)).toEqual([]);
    const [why] = await api.attributions(id);
    expect(why).toMatchObject({
      code: 'REACH_AGENT_REFUSED',
      agent_id: 'picky',
      stage: 'offer',
      blame: 'agent',
    });
    expect(why.message).toContain('context too long');
  });

  test('the agents that were tried come last', async () => {
    const agents = await Promise.all(['a', 'b', 'c'].map((id) => api.agent(id)));
    const id = await api.submit({ capability: 'work', ack_timeout_ms: 200, max_attempts: 4 });
    await Promise.all(agents.map((a) => a.offer()));
    const { deliveries } = await api.ended(id);
    const tried = deliveries.map((d: Json) => d.agent_id as string);
    expect(new Set(tried.slice(0, 3)).size).toBe(3);
    expect(tried).toHaveLength(4);
  });

  test('a dependency that is down is blamed, not the agent', async () => {
    const agent = await api.agent('a1', {
      dependencies: [{ name: 'search', type: 'http', target: 'http://x' }],
    });
    const id = await api.submit({ capability: 'work', idempotent: true, max_attempts: 1 });
    const offer = await agent.begin();
    const report = { code: 'DEPENDENCY_DOWN', dependency: 'search', message: 'HTTP 503' };
    await agent.fail(offer.delivery_id, report);
    const [why] = await api.attributions(id);
    expect(why).toMatchObject({ code: 'REACH_DEPENDENCY_DOWN', blame: 'dependency', dependency: 'search' });
    expect(why.message).toBe('dependency search of agent a1 failed: HTTP 503; no attempts are left');
    expect((await api.get('attributions', { dependency: 'search' })).body.items).toHaveLength(1);
    const { body } = await api.get('attributions/summary', { group_by: 'dependency' });
    expect(body.groups).toMatchObject([{ key: 'search', attempts: 1, tasks: 1 }]);
  });

  test('codes of others are kept beside AGENT_ERROR', async () => {
    const agent = await api.agent('a1');
    const id = await api.submit({ capability: 'work' });
    const offer = await agent.begin();
    await agent.fail(offer.delivery_id, { code: 'EBADMODEL', message: 'm' });
    expect(await api.attributions(id)).toMatchObject([{ code: 'REACH_AGENT_ERROR' }]);
    expect((await api.attributions(id))[0].message).toContain('EBADMODEL');
    // An agent cannot speak for the centre.
    const second = await api.submit({ capability: 'work' });
    const again = await agent.begin();
    await agent.fail(again.delivery_id, { code: 'REACH_CANCELED' });
    expect(await api.ended(second)).toMatchObject({ state: 'failed', error: { code: 'REACH_AGENT_ERROR' } });
  });

  test('too slow: an idempotent task goes on elsewhere, another one has failed', async () => {
    const slow = await api.agent('slow', { max_concurrency: 2 });
    const task = { capability: 'work', execution_timeout_ms: 300 };
    const idempotent = await api.submit({ ...task, idempotent: true });
    const stuck = await slow.begin();
    const fragile = await api.submit(task);
    const lost = await slow.begin();
    const other = await api.agent('other');
    expect(await api.ended(fragile)).toMatchObject({
      state: 'failed',
      attempt: 1,
      error: { code: 'REACH_EXECUTION_TIMEOUT' },
    });
    const offer = await other.offer();
    expect(offer).toMatchObject({ task_id: idempotent, attempt: 2 });
    await other.ack(offer.delivery_id);
    for (const late of [stuck, lost])
      expect(await slow.complete(late.delivery_id)).toMatchObject({
        status: 409,
        body: { code: 'REACH_DELIVERY_SUPERSEDED' },
      });
    expect(await slow.fail(stuck.delivery_id)).toMatchObject({ status: 409 });
    expect(await other.complete(offer.delivery_id)).toMatchObject({ status: 200 });
    expect(await api.attributions(idempotent)).toMatchObject([
      { code: 'REACH_EXECUTION_TIMEOUT', stage: 'execution', blame: 'agent', agent_id: 'slow', final: false },
    ]);
  });

  test('progress moves the deadline out, never in, and is the last word when it is not met', async () => {
    const agent = await api.agent('a1');
    const id = await api.submit({ capability: 'work', execution_timeout_ms: 400 });
    const offer = await agent.begin();
    const began = performance.now();
    const extended = await agent.progress(offer.delivery_id, { extend_ms: 1200, note: 'half way' });
    expect(extended.status).toBe(200);
    const shorter = await agent.progress(offer.delivery_id, { extend_ms: 1 });
    expect(shorter.body).toEqual(extended.body);
    expect(await api.task(id)).toMatchObject({ state: 'running', progress: { note: 'half way' } });
    expect((await api.ended(id)).state).toBe('failed');
    expect(performance.now() - began).toBeGreaterThanOrEqual(1150);
    const [why] = await api.attributions(id);
    expect(why.message).toContain('its last word was "half way"');
  });

  test('every failed attempt of many tasks has one attribution, every failed task one final', async () => {
    const agent = await api.agent('a1', { max_concurrency: 20 });
    const tasks = Array.from({ length: 20 }, () => ({
      namespace: api.namespace,
      capability: 'work',
      idempotent: true,
      max_attempts: 3,
    }));
    const { body } = await api.post('tasks/batch', { tasks });
    let failures = 0;
    while (failures < 60) {
      const offers = await agent.offers(20);
      const operations = offers.flatMap((o) => [
        { op: 'ack', delivery_id: o.delivery_id },
        { op: 'fail', delivery_id: o.delivery_id, message: 'no' },
      ]);
      const acks = operations.filter((o) => o.op === 'ack');
      await api.post('deliveries/batch', { lease_id: agent.lease, operations: acks });
      const fails = operations.filter((o) => o.op === 'fail');
      // Twice, as after a lost answer.
      await Promise.all(
        [1, 2].map(() => api.post('deliveries/batch', { lease_id: agent.lease, operations: fails })),
      );
      failures += offers.length;
    }
    const ids = body.results.map((r: Json) => r.task_id as string) as string[];
    for (const id of ids) {
      expect(await api.ended(id)).toMatchObject({ state: 'failed', attempt: 3 });
      const attributions = await api.attributions(id);
      expect(attributions.map((a) => [a.attempt, a.final])).toEqual([
        [1, false],
        [2, false],
        [3, true],
      ]);
    }
  });
});
