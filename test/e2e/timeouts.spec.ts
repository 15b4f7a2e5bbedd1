import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { until } from '../support/until.js';

inBothModes('how long', (mode) => {
  const centre = Centre.ofSuite(mode);
  let api: Api;

  beforeEach(() => {
    api = centre.api();
  });

  const put = (settings: object) =>
    api.call('PUT', '/api/v1/policies/work', { namespace: api.namespace, settings });

  /** Every dispatcher has heard of calls that each took so long. */
  async function taken(ms: number, calls: number): Promise<void> {
    const one = { agent_id: 'a1', capability: 'work', ok: true, took_ms: ms };
    for (const at of api.each())
      await until('it knows the agent', async () => (await at.get('agents/a1')).status === 200);
    await until('the calls are counted', async () => {
      const { body } = await api.post('outcomes', { outcomes: Array<object>(calls).fill(one) });
      return body.counted === calls;
    });
    for (const at of api.each())
      await until('it has heard of them', async () => {
        const { candidates } = (await at.post('route/simulate', { capability: 'work' })).body;
        return candidates[0]?.p95_ms > 0;
      });
  }

  const lastDelivery = async (id: string): Promise<Json> => (await api.task(id)).deliveries.at(-1);

  test('a delivery may run follows what its agent took of late, and says so', async () => {
    const agent = await api.agent('a1', { max_concurrency: 5 });
    await taken(20_000, 40);
    const id = await api.submit({ capability: 'work' });
    const offer = await agent.begin();
    const { ms, p95_ms, calls, factor, text } = (await lastDelivery(id)).decision.execution_timeout;
    expect(ms).toBeGreaterThan(20_000 * 1.5 * 0.97);
    expect(ms).toBeLessThan(20_000 * 1.5 * 1.03 + 2);
    expect([calls, factor, offer.execution_timeout_ms]).toEqual([40, 1.5, ms]);
    expect(Math.abs(p95_ms * 1.5 - ms)).toBeLessThan(3);
    expect(text).toMatch(/^[\d.]+ s: 1.5 x P95 of [\d.]+ s over 40 calls$/);
    const { deadline_at, acked_at } = await lastDelivery(id);
    expect(Date.parse(deadline_at) - Date.parse(acked_at)).toBeCloseTo(ms, -2);
    const { story } = (await api.get(`tasks/${id}/explain`)).body;
    expect(story.find((s: Json) => s.kind === 'offered').text).toContain(`may run for ${text}`);

    const own = await api.submit({ capability: 'work', execution_timeout_ms: 1234 });
    expect(await agent.begin()).toMatchObject({ task_id: own, execution_timeout_ms: 1234 });
    expect((await lastDelivery(own)).decision.execution_timeout).toBeUndefined();
  });

  test('a delivery may run goes by its policy: within bounds, or fixed; while too little is known as the policy says', async () => {
    const agent = await api.agent('a1', { max_concurrency: 20 });
    const followed = async (settings: object, expected: number) => {
      expect((await put(settings)).status).toBe(200);
      await until('the policy is followed', async () => {
        await api.submit({ capability: 'work' });
        const offer = await agent.begin();
        await agent.complete(offer.delivery_id);
        return offer.execution_timeout_ms === expected;
      });
    };
    await followed({ execution_timeout_ms: 7000 }, 7000);
    await taken(20_000, 40);
    await followed({ timeouts: { factor: 4, max_ms: 15_000 } }, 15_000);
    await followed({ timeouts: { min_ms: 100_000 } }, 100_000);
    await followed({ timeouts: { fixed_ms: 4321 } }, 4321);
  });

  test('a delivery may run is enforced', async () => {
    const agent = await api.agent('a1');
    await put({ timeouts: { min_ms: 100 } });
    for (const at of api.each())
      await until('the policy is known', async () => {
        const { body } = await at.get('policies/work');
        return body.settings.timeouts.min_ms === 100;
      });
    await taken(200, 40);
    const id = await api.submit({ capability: 'work' });
    await agent.begin();
    const task = await api.ended(id);
    expect(task.error.code).toBe('REACH_EXECUTION_TIMEOUT');
    expect(task.error.message).toMatch(/a1 did not finish within 0.3 s/);
  });

  test('an offer lapses while it waits for its ACK: the agent gets nothing any more, and it is no attempt', async () => {
    const agent = await api.agent('a1');
    const id = await api.submit({ capability: 'work', expires_in_ms: 400 });
    const offer = await agent.offer();
    const waits = await api.submit({ capability: 'work', agent_id: 'a1', expires_in_ms: 1 });
    const task = await api.ended(id);
    expect(task).toMatchObject({ state: 'expired', attempt: 0, error: { code: 'REACH_TASK_EXPIRED' } });
    expect(task.deliveries).toMatchObject([{ state: 'released', code: 'REACH_TASK_EXPIRED' }]);
    expect(task.error.message).toContain('a1 was offered it, and did not acknowledge in time');
    expect((await agent.ack(offer.delivery_id)).body).toEqual({
      execute: false,
      reason: 'REACH_TASK_EXPIRED',
    });
    await api.ended(waits);
    expect(await agent.offers(10, 0)).toEqual([]);
    const session = await api.session('s1', { capabilities: ['telling'] });
    const told = await api.submit({ capability: 'telling', expires_in_ms: 400 });
    await session.offers();
    session.cut();
    expect((await api.ended(told)).state).toBe('expired');
  });

  test('the time of a whole task goes with it, and ends what runs', async () => {
    const agent = await api.agent('a1');
    const began = performance.now();
    const id = await api.submit({ capability: 'work', timeout_ms: 1500, idempotent: true });
    const first = await agent.begin();
    expect(first.time_left_ms).toBeLessThanOrEqual(1500);
    await agent.fail(first.delivery_id, { message: 'no', retryable: true });
    const second = await agent.begin();
    expect(second.time_left_ms).toBeLessThanOrEqual(first.time_left_ms - 45);
    const { ends_at, deliveries } = await api.task(id);
    expect(deliveries.at(-1).deadline_at).toBe(ends_at);
    const { body } = await agent.progress(second.delivery_id, { extend_ms: 60_000 });
    expect(body.deadline).toBe(ends_at);
    const task = await api.ended(id);
    expect(task).toMatchObject({ state: 'failed', attempt: 2, error: { code: 'REACH_EXECUTION_TIMEOUT' } });
    expect(task.error.message).toBe(
      'agent a1 did not finish in what was left of the time of the task; no time is left',
    );
    expect(performance.now() - began).toBeGreaterThanOrEqual(1400);
  });

  test.each([0, 49, 1.5, '1000', 31_536_000_001])('a time of %j is refused', async (timeout_ms) => {
    const { status, body } = await api.post('tasks', { capability: 'work', timeout_ms });
    expect([status, body.errors[0].pointer]).toEqual([400, '/timeout_ms']);
  });
});
