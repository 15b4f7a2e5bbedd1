import { type PackedDecision, replayOf, unpackDecision } from '../../src/core/decision.js';
import type { Policy } from '../../src/core/policy.js';
import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { ProbedServer } from '../support/probed-server.js';
import { createTestDatabase, openSql, type TestDatabase } from '../support/postgres.js';
import { describeWithRedisServer } from '../support/redis.js';
import { until } from '../support/until.js';

const policyOf = (api: Api, capability: string) => api.get(`policies/${encodeURIComponent(capability)}`);
const put = (api: Api, capability: string, settings: object, more: object = {}) =>
  api.call('PUT', `/api/v1/policies/${encodeURIComponent(capability)}`, {
    namespace: api.namespace,
    settings,
    ...more,
  });
const simulate = async (api: Api, body: object): Promise<Json> =>
  (await api.post('route/simulate', body)).body;

inBothModes('policies', (mode) => {
  let centre: Centre;
  let api: Api;

  beforeAll(async () => {
    centre = await Centre.start(mode);
  }, 60_000);
  afterAll(() => centre?.stop());
  beforeEach(() => {
    api = centre.api();
  });

  test('of a capability, over that of its namespace, over the defaults; every dispatcher follows them', async () => {
    const { body: before } = await policyOf(api, 'work');
    expect(before).toMatchObject({ version: 0, namespace_version: 0, versions: [] });
    expect(before.settings).toMatchObject({ score: { preset: 'reach' }, strategy: 'power_of_two' });

    expect((await put(api, '*', { strategy: 'best', max_attempts: 7 })).body).toMatchObject({ version: 1 });
    expect((await put(api, 'work', { max_attempts: 2 })).body).toMatchObject({ version: 1 });
    for (const at of api.each())
      await until('every dispatcher has heard of it', async () => {
        const { body } = await policyOf(at, 'work');
        return body.settings.max_attempts === 2 && body.settings.strategy === 'best';
      });
    const attempts = async (task: object) => (await api.task(await api.submit(task))).max_attempts as number;
    expect(await attempts({ capability: 'work' })).toBe(2);
    expect(await attempts({ capability: 'other' })).toBe(7);
    expect(await attempts({ agent_id: 'a1' })).toBe(7);
    expect(await attempts({ capability: 'work', max_attempts: 4 })).toBe(4);

    const removed = await api.call('DELETE', `/api/v1/policies/work?namespace=${api.namespace}`);
    expect(removed.body).toMatchObject({ version: 2, settings: null });
    await until('that of the namespace holds', async () => (await attempts({ capability: 'work' })) === 7);
    const again = await api.call('DELETE', `/api/v1/policies/work?namespace=${api.namespace}`);
    expect([again.status, again.body.code]).toEqual([404, 'REACH_NOT_FOUND']);
    expect((await api.get('policies')).body.items.map((p: Json) => p.capability)).toEqual(['*']);
    const { body: after } = await policyOf(api, 'work');
    expect(after.versions.map((v: Json) => v.version)).toEqual([2, 1]);
  });

  test('a writer who has not read the last version is refused, and 20 at once each write one', async () => {
    expect((await put(api, 'work', {}, { if_version: 0 })).status).toBe(200);
    const late = await put(api, 'work', {}, { if_version: 0 });
    expect(late.status).toBe(409);
    expect(late.body.detail).toContain('is at version 1, not at 0');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => put(api, 'busy', {}, { if_version: 0 })),
    );
    expect(answers.filter((a) => a.status === 200)).toHaveLength(1);
    expect(answers.filter((a) => a.status === 409)).toHaveLength(19);
  });

  test('many are listed by pages, and each is followed by every dispatcher', async () => {
    const names = Array.from({ length: 25 }, (_, i) => `many.${String(i).padStart(2, '0')}`);
    await put(api, '*', { strategy: 'best' });
    await Promise.all(names.map((name, i) => put(api, name, { max_attempts: 1 + i })));
    await api.call('DELETE', `/api/v1/policies/many.07?namespace=${api.namespace}`);
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await api.get('policies', { limit: 10, ...(cursor !== undefined && { cursor }) });
      expect(body.items.length).toBeLessThanOrEqual(10);
      listed.push(...body.items.map((p: Json) => p.capability));
      cursor = body.next_cursor;
    } while (cursor !== undefined);
    expect(listed).toEqual(['*', ...names.filter((name) => name !== 'many.07')]);
    // The last word of the namespace goes for each of them, also where it was written after it.
    await put(api, '*', { strategy: 'weighted_random' });
    for (const at of api.each())
      await until('every dispatcher follows all of them', async () => {
        const found = await Promise.all(names.map(async (name) => (await policyOf(at, name)).body.settings));
        return found.every(
          ({ strategy, max_attempts: attempts }, i) =>
            strategy === 'weighted_random' && (names[i] === 'many.07' || attempts === 1 + i),
        );
      });
  });

  test.each([-1, 1.5, 2 ** 31, '1'])('version %j is none that can be expected', async (version) => {
    const { status, body } = await put(api, 'work', {}, { if_version: version });
    expect([status, body.errors[0].pointer]).toEqual([400, '/if_version']);
  });

  test.each([
    [{ stategy: 'best' }, '/settings'],
    [{ strategy: 'worst' }, '/settings/strategy'],
    [{ score: { weights: { success: 0 } } }, '/settings/score'],
    [{ target_latency_ms: 0 }, '/settings/target_latency_ms'],
    [{ max_attempts: 1.5 }, '/settings/max_attempts'],
    [{ breaker: { errors_percent: 101 } }, '/settings/breaker/errors_percent'],
    [{ breaker: { window: 20, min_samples: 21 } }, '/settings/breaker/min_samples'],
    [{ breaker: { open_ms: 0 } }, '/settings/breaker/open_ms'],
    [{ breaker: { consecutiv: 1 } }, '/settings/breaker'],
    [{ timeouts: { factor: 0.9 } }, '/settings/timeouts/factor'],
    [{ timeouts: { fixed_ms: 100, min_ms: 50 } }, '/settings/timeouts/min_ms'],
    [{ timeouts: { min_ms: 200, max_ms: 100 } }, '/settings/timeouts/min_ms'],
  ])('%j is refused with its place', async (settings, pointer) => {
    const { status, body } = await put(api, 'work', settings);
    expect(status).toBe(400);
    expect(body.errors[0].pointer).toMatch(new RegExp(`^${pointer}`));
    expect((await policyOf(api, 'work')).body.version).toBe(0);
  });

  test('say when an agent that fails is left alone, from the next outcome on, on every dispatcher', async () => {
    const agent = await api.agent('a1');
    const fail = async () => {
      await api.submit({ capability: 'work' });
      await agent.fail((await agent.begin()).delivery_id as string, { message: 'no' });
    };
    const breaker = { consecutive: 1, open_ms: 3000, half_open_trials: 1, throttle_ms: 0 };
    for (const at of api.each())
      await until('it knows the agent', async () => (await at.get('agents/a1')).status === 200);
    await fail();
    // Nobody else is there: in a panic it would go on.
    await put(api, 'work', { breaker, panic: false });
    for (const at of api.each())
      await until('it has heard of the policy', async () => {
        const { settings } = (await policyOf(at, 'work')).body;
        return settings.breaker.consecutive === 1 && settings.breaker.errors_percent === 40;
      });
    await fail();
    for (const at of api.each())
      await until('it leaves the agent alone', async () => {
        const { candidates } = await simulate(at, { capability: 'work' });
        return (
          candidates[0].filter === 'breaker' &&
          /2 calls running failed; it is tried again in [1-3] s/.test(candidates[0].reason)
        );
      });
    // One trial, and it is back.
    await api.submit({ capability: 'work' });
    await agent.work();
    for (const at of api.each())
      await until('it is back', async () => {
        const { candidates } = await simulate(at, { capability: 'work' });
        return candidates[0].verdict === 'chosen' && candidates[0].throttled === undefined;
      });
  });

  test('are followed: by "best" the better agent gets the work, and the delivery says why', async () => {
    await put(api, 'work', { strategy: 'best', score: { weights: { success: 1 } } });
    const good = await api.agent('good');
    const bad = await api.agent('bad', { tags: ['bad'] });
    await api.agent('elsewhere', { capabilities: ['other'] });
    await api.agent('held');
    await api.call('POST', `/api/v1/agents/held/hold?namespace=${api.namespace}`, { reason: 'under repair' });
    for (let i = 0; i < 3; i++) {
      const id = await api.submit({ agent_id: 'bad', capability: 'work', max_attempts: 1 });
      const offer = await bad.begin();
      await bad.fail(offer.delivery_id as string, { code: 'AGENT_ERROR', message: 'no' });
      await api.ended(id);
    }
    const first = await api.submit({ agent_id: 'good', capability: 'work' });
    await good.work();
    await api.ended(first);

    // Every replica that heard of these outcomes prefers the good one; the one that knows nothing takes either.
    const told = async (at: Api) => {
      const [best] = (await simulate(at, { capability: 'work' })).candidates;
      return best.agent_id === 'good' && best.success_rate === 1;
    };
    const knowing: Api[] = [];
    await until('one knows', async () => {
      for (const at of api.each()) if (await told(at)) knowing.push(at);
      return knowing.length > 0;
    });
    const id = await knowing[0]!.submit({ capability: 'work' });
    await good.work();
    const task = await api.ended(id);
    const { decision } = task.deliveries[0];
    expect(decision).toMatchObject({ by: 'selection', strategy: 'best', eligible: 2 });
    expect(decision.compared.find((c: Json) => c.chosen)).toMatchObject({ agent_id: 'good', score: 1 });
    expect(decision.compared.find((c: Json) => !c.chosen)).toMatchObject({ agent_id: 'bad' });
    expect(decision.rejected).toMatchObject({
      counts: { held: 1 },
      named: [{ agent_id: 'held', filter: 'held', reason: 'held by an operator: under repair' }],
    });
    const { body: why } = await api.get(`tasks/${id}/explain`);
    const offered = why.story.find((s: Json) => s.kind === 'offered');
    expect(offered.text).toContain('chosen of 2 compared, 2 eligible; passed over: 1 by held');
    expect(offered.data.decision.compared).toHaveLength(2);
  });
});

inBothModes('a simulation', (mode) => {
  let centre: Centre;
  let api: Api;

  beforeAll(async () => {
    centre = await Centre.start(mode, { dispatchers: 1 });
    api = centre.api();
    await api.agent('old', { capabilities: [{ name: 'work', version: '1.0.0' }] });
    await api.agent('new', { capabilities: [{ name: 'work', version: '2.1.0' }], tags: ['gpu'] });
    const full = await api.agent('full', { max_concurrency: 1, tags: ['gpu'] });
    await api.submit({ agent_id: 'full' });
    await full.begin();
  }, 60_000);
  afterAll(() => centre?.stop());

  test.each([
    [{ capability: 'work' }, ['old', 'new'], { full: 'capacity' }],
    [{ capability: 'work@^2' }, ['new'], { old: 'version', full: 'version' }],
    [{ capability: 'work', constraints: { tags: ['gpu'] } }, ['new'], { old: 'tags', full: 'capacity' }],
    [
      { capability: 'work', constraints: { exclude: ['old', 'new'] } },
      [],
      { old: 'excluded', full: 'capacity' },
    ],
    [{ agent_id: 'full' }, [], { full: 'capacity' }],
    [{ capability: 'nothing' }, [], {}],
  ])('%j', async (body, open, refused) => {
    const answer = await simulate(api, body);
    const of = (...verdicts: string[]) =>
      answer.candidates
        .filter((c: Json) => verdicts.includes(c.verdict))
        .map((c: Json) => c.agent_id)
        .sort();
    expect(of('chosen', 'eligible')).toEqual([...open].sort());
    expect(answer.by).toBe(open.length === 0 ? 'nobody' : 'selection');
    expect(answer.chosen === undefined).toBe(open.length === 0);
    for (const [id, filter] of Object.entries(refused))
      expect(answer.candidates.find((c: Json) => c.agent_id === id)).toMatchObject({
        verdict: 'rejected',
        filter,
      });
    const shares = answer.candidates.reduce((sum: number, c: Json) => sum + (c.share ?? 0), 0);
    expect(shares).toBeCloseTo(open.length === 0 ? 0 : 1);
  });

  test('knows affinity, those that tried before, and a pause; it delivers nothing', async () => {
    const by = await simulate(api, { capability: 'work', affinity_key: 'k1' });
    expect(by).toMatchObject({ by: 'affinity' });
    expect(by.candidates.find((c: Json) => c.verdict === 'chosen').share).toBe(1);
    const again = await simulate(api, { capability: 'work', tried: ['old'] });
    expect(again.chosen).toBe('new');
    expect(again.candidates.find((c: Json) => c.agent_id === 'old').verdict).toBe('tried');
    await api.post('capabilities/work/pause', { reason: 'so' });
    expect((await simulate(api, { capability: 'work' })).paused).toBe('work');
    await api.post('capabilities/work/resume', {});
    expect((await api.get('tasks')).body.items).toHaveLength(1);
  });

  test.each([
    [{}, '/capability'],
    [{ capability: 'work@nonsense range' }, '/capability'],
    [{ capability: 'work', tried: 'old' }, '/tried'],
    [{ capability: 'work', capabilities: ['work'] }, '/capabilities'],
    [{ agent_id: 'old', name: 'old' }, '/name'],
  ])('%j is refused with its place', async (body, pointer) => {
    const { status, body: problem } = await api.post('route/simulate', body);
    expect(status).toBe(400);
    expect(problem.errors[0].pointer).toBe(pointer);
  });
});

inBothModes('routing advice', (mode) => {
  const server = new ProbedServer();
  afterAll(() => server.die());
  const centre = Centre.ofSuite(mode);
  const advice = async (api: Api, capability: string, query = {}): Promise<Json> =>
    (await api.get(`route/${encodeURIComponent(capability)}`, query)).body;

  /** News of a registration reach the other replica a moment later. */
  const known = async (api: Api, agents: number) => {
    for (const at of api.each())
      await until('every replica knows the agents', async () => {
        const { candidates, rejected } = await advice(at, 'work');
        const counts = Object.values(rejected.counts as Record<string, number>);
        return counts.reduce((sum, count) => sum + count, candidates.length as number) === agents;
      });
  };

  test('names the best first, and follows what callers report, on every replica', async () => {
    const api = centre.api();
    // They are probed where they say they are.
    await server.revive();
    for (const id of ['a', 'b', 'c'])
      await api.agent(id, { transport: 'push', endpoint: `${server.url}/${id}` });
    await api.agent('fetches');
    await known(api, 4);
    const first = await advice(api, 'work', { source_agent_id: 'c' });
    expect(first.candidates.map((c: Json) => c.agent_id).sort()).toEqual(['a', 'b']);
    expect(first.candidates[0]).toMatchObject({ expires_in: 30, throttled: false, free_slots: 1 });
    expect(first.candidates[0].endpoint).toMatch(/\/[ab]$/);
    expect(first.rejected.named).toEqual([
      { agent_id: 'c', filter: 'excluded', reason: 'excluded by the task' },
      { agent_id: 'fetches', filter: 'endpoint', reason: 'has no endpoint: it fetches its work itself' },
    ]);
    expect(first.retry_after_ms).toBeGreaterThanOrEqual(100);
    expect(first.retry_after_ms).toBeLessThanOrEqual(800);

    const of = (agent_id: string, ok: boolean, more = {}) => ({
      agent_id,
      capability: 'work',
      ok,
      took_ms: 40,
      ...more,
    });
    const { body } = await api.post('outcomes', {
      outcomes: [
        ...Array.from({ length: 5 }, () => of('a', false)),
        ...Array.from({ length: 5 }, () => of('b', true)),
        of('nobody', true),
        of('b', true, { capability: 'other' }),
      ],
    });
    expect(body).toMatchObject({ counted: 10, ignored: [{ position: 10 }, { position: 11 }] });
    for (const at of api.each())
      await until('every replica has learned it', async () => {
        const { candidates, rejected } = await advice(at, 'work', { source_agent_id: 'c' });
        return (
          candidates.length === 1 &&
          candidates[0].agent_id === 'b' &&
          candidates[0].estimated_p95_ms > 30 &&
          rejected.counts.breaker === 1
        );
      });
    for (const at of api.each()) {
      expect((await at.agentView('a')).breaker).toMatchObject({
        phase: 'open',
        slots: 0,
        cause: expect.stringContaining('4 calls running failed; it is tried again in'),
      });
      expect((await at.agentView('b')).breaker).toBeUndefined();
      const { items } = (await at.get('agents')).body;
      expect(items.filter((a: Json) => a.breaker !== undefined)).toMatchObject([{ agent_id: 'a' }]);
    }
  });

  test.each([
    ['outcomes', { outcomes: [] }, '/outcomes'],
    [
      'outcomes',
      { outcomes: [{ agent_id: 'a', capability: 'work', ok: true, took_ms: -1 }] },
      '/outcomes/0/took_ms',
    ],
    [
      'outcomes',
      { outcomes: [{ agent_id: 'a', capability: 'work', ok: false, took_ms: 1, code: 'MY_FAULT' }] },
      '/outcomes/0/code',
    ],
    [
      'outcomes',
      {
        outcomes: [{ agent_id: 'a', capability: 'work', ok: true, took_ms: 1, code: 'AGENT_ERROR' }],
      },
      '/outcomes/0/code',
    ],
  ])('%s %j is refused with its place', async (path, body, pointer) => {
    const { status, body: problem } = await centre.api().post(path, body);
    expect([status, problem.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('without anybody to call it says why, and a bad range is refused', async () => {
    const api = centre.api();
    expect(await advice(api, 'nothing')).toMatchObject({ candidates: [], rejected: { named: [] } });
    await api.agent('a');
    await known(api, 1);
    expect(await advice(api, 'work@^3')).toMatchObject({
      candidates: [],
      rejected: { counts: { version: 1 } },
    });
    expect((await api.get('route/work@one%20two')).status).toBe(400);
  });
});

describeWithRedisServer('decisions', () => {
  let database: TestDatabase;
  let centre: Centre;

  beforeAll(async () => {
    database = await createTestDatabase();
    centre = await Centre.start('distributed', { databaseUrl: database.url });
  }, 60_000);
  afterAll(async () => {
    await centre?.stop();
    await database?.drop();
  });

  test('of a whole run are made again from what was recorded, each with the same agent', async () => {
    const strategies = ['best', 'weighted_random', 'weighted_round_robin', 'power_of_two', 'least_watermark'];
    const api = centre.api();
    const names = strategies.flatMap((s) => [`first.${s}`, `second.${s}`]);
    for (const [i, capability] of names.entries())
      await put(api, capability, {
        strategy: strategies[i >> 1],
        score: { preset: i % 2 ? 'connect' : 'dispatch' },
      });
    const agents = await Promise.all(
      ['a', 'b', 'c', 'd'].map((id, i) => api.agent(id, { capabilities: names, max_concurrency: 3 + i })),
    );
    const working = agents.map(async (agent, i) => {
      for (let idle = 0; idle < 3;) {
        const offers = await agent.offers(3, 700);
        idle = offers.length === 0 ? idle + 1 : 0;
        for (const [n, { delivery_id: id }] of offers.entries()) {
          await agent.ack(id as string);
          if ((n + i) % 5 === 0)
            await agent.fail(id as string, { code: 'AGENT_ERROR', message: 'no', retryable: true });
          else await agent.complete(id as string);
        }
      }
    });
    const tasks = Array.from({ length: 300 }, (_, i) => ({
      namespace: api.namespace,
      capability: names[i % names.length],
      idempotent: true,
      ...(i % 7 === 0 && { affinity_key: `key-${i % 3}` }),
    }));
    await api.post('tasks/batch', { tasks: tasks.slice(0, 150) });
    await Promise.all(tasks.slice(150).map((task) => api.submit(task)));
    await Promise.all(working);

    const { sql, close } = await openSql(database.url);
    const { rows } = await sql.run<{ agent_id: string; decision: PackedDecision; policy: Policy }>(
      'decisions',
      `SELECT d.agent_id, d.decision, p.policy FROM deliveries d
       JOIN followed_policies p ON p.digest = d.decision ->> 1`,
    );
    const count = await sql.run<{ n: number }>('count', 'SELECT count(*)::int AS n FROM deliveries');
    await close();
    expect(rows.length).toBeGreaterThan(300);
    expect(rows).toHaveLength(count.rows[0]!.n);
    const selected = rows
      .map((row) => ({ ...row, decision: unpackDecision(row.decision) }))
      .filter(({ decision }) => decision.by === 'selection');
    expect(new Set(selected.map(({ policy }) => policy.strategy))).toEqual(new Set(strategies));
    for (const { agent_id, decision, policy } of selected) {
      const again = replayOf(decision, policy);
      expect([agent_id, decision]).toEqual([decision.compared[again!.index]!.agentId, decision]);
    }
  });
});
