import type { Answer, Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { until } from '../support/until.js';

const LIMIT = 10;
const env = { REACH_LANE_LIMIT: `${LIMIT}`, REACH_INBOX_LIMIT: `${LIMIT}` };

inBothModes('limits', (mode) => {
  const centre = Centre.ofSuite(mode, { env });
  let api: Api;

  beforeEach(() => {
    api = centre.api();
  });

  const count = (answers: Answer[], status: number) => answers.filter((a) => a.status === status).length;

  test.each([
    ['a capability', { capability: 'work' }],
    ['one agent', { agent_id: 'a1' }],
  ])(
    '200 submits at once for %s: exactly 10 are accepted, and there is room again after work',
    async (_what, target) => {
      const answers = await Promise.all(Array.from({ length: 200 }, () => api.post('tasks', target)));
      expect(count(answers, 202)).toBe(LIMIT);
      expect(count(answers, 429)).toBe(200 - LIMIT);
      const refused = answers.find((a) => a.status === 429);
      expect(refused?.body).toMatchObject({ code: 'REACH_QUEUE_FULL', retryable: true });
      // Nothing leaves the lane, so it takes as long as it may.
      const again = Number(refused?.headers.get('retry-after'));
      expect(again).toBeGreaterThanOrEqual(20);
      expect(again).toBeLessThanOrEqual(30);
      expect(refused?.headers.get('ratelimit-policy')).toBe(`"lane";q=${LIMIT};qu="concurrent-requests"`);
      expect(refused?.headers.get('ratelimit')).toBe(`"lane";r=0;t=${again}`);
      const taken = answers.filter((a) => a.status === 202).map((a) => a.headers.get('ratelimit'));
      for (const header of taken) expect(header).toMatch(/^"lane";r=\d$/);
      expect((await api.get('tasks', { limit: 500 })).body.items).toHaveLength(LIMIT);

      const agent = await api.agent('a1');
      for (let i = 0; i < 3; i++) await agent.work();
      // The fourth is offered to the agent already, so it does not wait any more.
      await agent.offer();
      let accepted = 0;
      await until('4 more are accepted', async () => {
        accepted += count(
          await Promise.all(Array.from({ length: 20 }, () => api.post('tasks', target))),
          202,
        );
        return accepted >= 4;
      });
      expect(accepted).toBe(4);
    },
  );

  test('a batch is accepted as far as there is room, a cancel gives its room back, a retry needs one', async () => {
    const tasks = Array.from({ length: 15 }, () => ({ namespace: api.namespace, capability: 'work' }));
    const { body } = await api.post('tasks/batch', { tasks });
    expect(body).toMatchObject({ accepted: LIMIT, rejected: 5 });
    expect(body.results.slice(0, LIMIT).every((r: Json) => r.state === 'queued')).toBe(true);
    expect(body.results[LIMIT].error).toMatchObject({
      code: 'REACH_QUEUE_FULL',
      retryable: true,
      retry_after_ms: expect.any(Number),
    });
    const id = body.results[0].task_id as string;
    await api.cancel(id);
    await until('room', async () => (await api.post('tasks', { capability: 'work' })).status === 202);
    expect(await api.post(`tasks/${id}/retry`)).toMatchObject({
      status: 429,
      body: { code: 'REACH_QUEUE_FULL' },
    });
  });

  test('an idempotent repeat is answered although the lane is full, and takes no room', async () => {
    const headers = { 'idempotency-key': 'k' };
    const first = await api.post('tasks', { capability: 'work' }, headers);
    for (let i = 1; i < LIMIT; i++) await api.submit({ capability: 'work' });
    for (let i = 0; i < 5; i++) {
      const again = await api.post('tasks', { capability: 'work' }, headers);
      expect(again).toMatchObject({ status: 202, body: { task_id: first.body.task_id, deduplicated: true } });
    }
    expect((await api.post('tasks', { capability: 'work' })).status).toBe(429);
  });

  test('a refused key is not remembered', async () => {
    for (let i = 0; i < LIMIT; i++) await api.submit({ capability: 'work' });
    const headers = { 'idempotency-key': 'refused' };
    expect((await api.post('tasks', { capability: 'work' }, headers)).status).toBe(429);
    const agent = await api.agent('a1');
    await agent.work();
    await until(
      'room',
      async () => (await api.post('tasks', { capability: 'work' }, headers)).status === 202,
    );
    expect((await api.post('tasks', { capability: 'work' }, headers)).body.deduplicated).toBe(true);
  });

  test('200 tasks that end in every bad way: the slot limit holds at every instant, and none leaks', async () => {
    const slots = 8;
    const agent = await api.agent('a1', { max_concurrency: slots });
    let most = 0;
    let over = false;
    const watcher = (async () => {
      while (!over) most = Math.max(most, (await api.agentView('a1')).in_flight as number);
    })();
    const ids: string[] = [];
    const submitter = (async () => {
      while (ids.length < 200) {
        const answer = await api.post('tasks', {
          capability: 'work',
          payload: ids.length % BAD_ENDS.length,
          ack_timeout_ms: 200,
          execution_timeout_ms: 200,
          expires_in_ms: 20_000,
          max_attempts: 2,
          idempotent: ids.length % 3 === 0,
        });
        if (answer.status === 202) ids.push(answer.body.task_id as string);
      }
    })();
    let done = false;
    const worker = (async () => {
      while (!done) {
        const offers = await agent.offers(slots, 100);
        await Promise.all(
          offers.map(async (offer) => BAD_ENDS[offer.payload as number]?.(api, agent, offer)),
        );
      }
    })();
    await submitter;
    const ended = await Promise.all(ids.map((id) => api.ended(id)));
    done = true;
    over = true;
    await Promise.all([watcher, worker]);
    expect(most).toBeLessThanOrEqual(slots);
    expect(new Set(ended.map((t) => t.state as string))).toContain('failed');

    // At rest every slot is free: as many tasks as there are slots are offered, and no more.
    expect((await api.agentView('a1')).in_flight).toBe(0);
    for (let i = 0; i < slots + 1; i++) await api.submit({ capability: 'work', ack_timeout_ms: 60_000 });
    const full: Json[] = [];
    while (full.length < slots) full.push(...(await agent.offers(slots)));
    expect(full).toHaveLength(slots);
    expect(await agent.offers(1, 300)).toEqual([]);
    expect((await api.agentView('a1')).in_flight).toBe(slots);
  }, 60_000);
});

type Agent = Awaited<ReturnType<Api['agent']>>;

/** Ways for a delivery to end, most of them bad. */
const BAD_ENDS: ((api: Api, agent: Agent, offer: Json) => Promise<unknown>)[] = [
  async (_api, agent, o) => {
    await agent.ack(o.delivery_id);
    return agent.complete(o.delivery_id);
  },
  async (_api, agent, o) => {
    await agent.ack(o.delivery_id);
    return agent.fail(o.delivery_id, { message: 'no' });
  },
  // refused before and after the ACK
  (_api, agent, o) => agent.fail(o.delivery_id, { code: 'AGENT_REFUSED' }),
  async (_api, agent, o) => {
    await agent.ack(o.delivery_id);
    return agent.fail(o.delivery_id, { code: 'AGENT_REFUSED' });
  },
  // no ACK at all
  async () => undefined,
  // begun and never ended
  (_api, agent, o) => agent.ack(o.delivery_id),
  // canceled when offered, and when running
  (api, _agent, o) => api.cancel(o.task_id),
  async (api, agent, o) => {
    await agent.ack(o.delivery_id);
    await api.cancel(o.task_id);
    return agent.complete(o.delivery_id);
  },
  // everything twice and at once
  async (api, agent, o) => {
    await agent.ack(o.delivery_id);
    return Promise.all([
      agent.complete(o.delivery_id),
      agent.fail(o.delivery_id),
      agent.complete(o.delivery_id),
      api.cancel(o.task_id),
    ]);
  },
];
