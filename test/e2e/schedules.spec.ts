import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { describeWithRedisServer } from '../support/redis.js';
import { until } from '../support/until.js';

const EVERY_SECOND = '* * * * * *';
/** A time that no test lives to see. */
const RARELY = '0 0 29 2 *';
const work = { capability: 'work', payload: { report: 'daily' } };

const put = (api: Api, id: string, body: object) =>
  api.call('PUT', `/api/v1/schedules/${encodeURIComponent(id)}`, {
    namespace: api.namespace,
    task: work,
    ...body,
  });
const act = (api: Api, id: string, verb: string) =>
  api.call('POST', `/api/v1/schedules/${id}/${verb}?namespace=${api.namespace}`);
const pause = async (api: Api, id: string) =>
  expect((await api.post(`schedules/${id}/pause`, {})).body.paused).toBe(true);
const show = async (api: Api, id: string): Promise<Json> => (await api.get(`schedules/${id}`)).body;
const ofOutcome = (schedule: Json, outcome: string): Json[] =>
  (schedule.firings as Json[]).filter((f) => f.outcome === outcome);

/** Tasks of the namespace, all of them. */
async function tasksOf(api: Api): Promise<Json[]> {
  return (await api.get('tasks', { limit: 500 })).body.items as Json[];
}

/** Resolves with the schedule once it has at least `count` firings of the outcome. */
async function fired(api: Api, id: string, count: number, outcome = 'fired'): Promise<Json> {
  let schedule: Json;
  await until(
    `${count} ${outcome}`,
    async () => ofOutcome((schedule = await show(api, id)), outcome).length >= count,
    30_000,
  );
  return schedule;
}

inBothModes('schedules', (mode) => {
  const centre = Centre.ofSuite(mode);

  test('each fire time makes one task, whoever looks', async () => {
    const api = centre.api();
    const agent = await api.agent('a');
    const { status, body } = await put(api, 'tick', { cron: EVERY_SECOND, timezone: 'Europe/Berlin' });
    expect(status).toBe(200);
    expect(body.next).toHaveLength(5);
    expect(Date.parse(body.next[4] as string) - Date.parse(body.next[0] as string)).toBe(4000);
    expect(body).toMatchObject({
      catch_up: 'last',
      overlap: 'allow',
      paused: false,
      changed_by: expect.any(String),
    });
    await agent.work();
    const schedule = await fired(api, 'tick', 3);
    await pause(api, 'tick');
    const after = await show(api, 'tick');
    const firings = ofOutcome(after, 'fired');
    expect(new Set(firings.map((f) => f.fire_at)).size).toBe(firings.length);
    expect((await tasksOf(api)).map((t) => t.task_id).sort()).toEqual(firings.map((f) => f.task_id).sort());
    expect(schedule.firings[0].fire_at).toMatch(/\.000Z$/);
    expect((await api.task(firings[0].task_id as string)).payload).toEqual({ report: 'daily' });
  });

  test('paused it does not fire but by hand; resumed it goes on; removed it is gone', async () => {
    const api = centre.api();
    await put(api, 'tick', { cron: EVERY_SECOND });
    await fired(api, 'tick', 1);
    const paused = await api.post('schedules/tick/pause', { reason: 'month end' });
    expect(paused.body).toMatchObject({ paused: true, pause_reason: 'month end' });
    const before = await show(api, 'tick');
    expect(before.next).toEqual([]);
    const { status, body } = await act(api, 'tick', 'trigger');
    expect(status).toBe(202);
    expect(await api.task(body.task_id as string)).toMatchObject({ capability: 'work' });
    expect(ofOutcome(await show(api, 'tick'), 'fired')).toHaveLength(ofOutcome(before, 'fired').length);
    expect(ofOutcome(await show(api, 'tick'), 'triggered')).toMatchObject([{ task_id: body.task_id }]);

    expect((await act(api, 'tick', 'resume')).body).toMatchObject({ paused: false });
    await fired(api, 'tick', ofOutcome(before, 'fired').length + 1);
    const removed = await api.call('DELETE', `/api/v1/schedules/tick?namespace=${api.namespace}`);
    expect(removed.status).toBe(200);
    for (const verb of ['resume', 'trigger'])
      expect((await act(api, 'tick', verb)).body.code).toBe('REACH_NOT_FOUND');
    expect((await api.post('schedules/tick/pause', {})).status).toBe(404);
    expect((await api.get('schedules/tick')).status).toBe(404);
  });

  test('where the task before has not ended, the next one is skipped, or one waits', async () => {
    const api = centre.api();
    const agent = await api.agent('a', { max_concurrency: 10 });
    await put(api, 'skips', { cron: EVERY_SECOND, overlap: 'skip' });
    const skipped = await fired(api, 'skips', 2, 'skipped');
    expect(ofOutcome(skipped, 'fired')).toHaveLength(1);
    await agent.work();
    await fired(api, 'skips', 2);
    await pause(api, 'skips');
    await agent.work();

    await put(api, 'queues', { cron: EVERY_SECOND, overlap: 'queue' });
    const held = await fired(api, 'queues', 1, 'skipped');
    expect(ofOutcome(held, 'fired')).toHaveLength(1);
    expect(Date.parse(held.waiting_at as string)).toBe(
      Date.parse(ofOutcome(held, 'fired')[0].fire_at as string) + 1000,
    );
    await agent.work();
    const second = ofOutcome(await fired(api, 'queues', 2), 'fired')[0];
    expect(second.fire_at).toBe(held.waiting_at);
  });

  test('what is wrong is named', async () => {
    const api = centre.api();
    const pointers = async (body: object) => {
      const answer = await put(api, 'bad', body);
      return [answer.status, ...((answer.body.errors ?? []) as Json[]).map((e) => e.pointer as string)];
    };
    expect(await pointers({ cron: '61 * * * *' })).toEqual([400, '/cron']);
    expect(await pointers({ cron: '0 0 30 2 *' })).toEqual([400, '/cron']);
    expect(await pointers({ cron: '@reboot' })).toEqual([400, '/cron']);
    expect(await pointers({ cron: '* * * * *', timezone: 'Mars/Olympus' })).toEqual([400, '/timezone']);
    expect(await pointers({ cron: '* * * * *', overlap: 'never' })).toEqual([400, '/overlap']);
    expect(
      await pointers({ cron: '* * * * *', start_at: '2027-01-01T00:00:00Z', end_at: '2026-01-01T00:00:00Z' }),
    ).toEqual([400, '/end_at']);
    expect(await pointers({ cron: '* * * * *', task: {} })).toEqual([400, '/task/capability']);
    expect(await pointers({ cron: '* * * * *', task: { ...work, run_at: 'now' } })).toEqual([
      400,
      '/task/run_at',
    ]);
    expect(
      await pointers({ cron: '* * * * *', task: { ...work, constraints: { version: 'newest' } } }),
    ).toEqual([400, '/task/constraints/version']);
    expect((await api.get('schedules/bad')).status).toBe(404);
  });

  test('the same written again changes no time; the list goes page by page', async () => {
    const api = centre.api();
    const first = (await put(api, 'b', { cron: RARELY })).body;
    const again = (await put(api, 'b', { cron: RARELY, overlap: 'skip' })).body;
    expect(again.next).toEqual(first.next);
    for (const id of ['a', 'c:d', 'é/x'])
      await put(api, id, { cron: RARELY, end_at: '2026-01-01T00:00:00Z' });
    const page = (await api.get('schedules', { limit: 3 })).body;
    expect((page.items as Json[]).map((s) => s.schedule_id)).toEqual(['a', 'b', 'c:d']);
    const rest = (await api.get('schedules', { limit: 3, cursor: page.next_cursor as string })).body;
    expect((rest.items as Json[]).map((s) => s.schedule_id)).toEqual(['é/x']);
    expect(rest.items[0].next_at).toBeUndefined();
    expect((await api.get('schedules', { cursor: 'x' })).status).toBe(400);
  });
});

describeWithRedisServer('schedules of replicas that die', () => {
  const centre = Centre.ofSuite('distributed');

  /** Every second from the first firing on has fired, once, and every task is of one of them. */
  async function requireComplete(api: Api): Promise<void> {
    const { firings } = await show(api, 'tick');
    const seconds = (firings as Json[]).map((f) => Date.parse(f.fire_at as string) / 1000).reverse();
    expect(seconds).toEqual(seconds.map((_, i) => (seconds[0] as number) + i));
    expect((firings as Json[]).map((f) => f.outcome)).toEqual(seconds.map(() => 'fired'));
    expect((await tasksOf(api)).map((t) => t.task_id).sort()).toEqual(
      (firings as Json[]).map((f) => f.task_id as string).sort(),
    );
  }

  test.each(['fire_before_commit', 'fire_after_commit'])(
    'at %s: nothing is lost or doubled',
    async (point) => {
      const victim = centre.dispatcher(0);
      await victim.terminate();
      await victim.start({ REACH_TEST_HOOKS: '1', REACH_FAILPOINTS: `${point}:1` });
      const api = centre.api().at(centre.dispatcher(1).url);
      const agent = await api.agent('a', { max_concurrency: 20 });
      await put(api, 'tick', { cron: EVERY_SECOND, catch_up: 'all' });
      expect(await victim.dies(20_000)).toBe(true);
      const { length } = (await show(api, 'tick')).firings as Json[];
      await fired(api, 'tick', length + 2);
      await pause(api, 'tick');
      await requireComplete(api);
      // None is left behind: the agent gets them all.
      const all = await tasksOf(api);
      const offered = new Set<string>();
      await until('all are offered', async () => {
        for (const offer of await agent.offers(20, 500)) offered.add(offer.task_id as string);
        return offered.size === all.length;
      });
      await victim.start();
    },
  );

  test('what passed while nobody ran is caught up, or told', async () => {
    const [all, last] = [centre.api(), centre.api()];
    await put(all, 'tick', { cron: EVERY_SECOND, catch_up: 'all', catch_up_limit: 100 });
    await put(last, 'tick', { cron: EVERY_SECOND, catch_up: 'last' });
    await fired(all, 'tick', 1);
    await fired(last, 'tick', 1);
    await Promise.all(centre.dispatchers.map((d) => d.kill9()));
    const downAt = Date.now();
    await until('a few seconds pass', () => Date.now() > downAt + 3000);
    await Promise.all(centre.dispatchers.map((d) => d.start()));
    await until('the time of the outage has fired', async () => {
      const [latest] = (await show(all, 'tick')).firings as Json[];
      return Date.parse(latest?.fire_at as string) > downAt + 3000;
    });
    await pause(all, 'tick');
    await requireComplete(all);
    const [missed] = ofOutcome(await fired(last, 'tick', 1, 'missed'), 'missed');
    expect(missed.detail).toMatch(/^all up to \S+ passed and were not caught up \(catch_up is last\)$/);
  });
});
