import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { until } from '../support/until.js';

inBothModes('tasks', (mode) => {
  const centre = Centre.ofSuite(mode);
  let api: Api;

  beforeEach(() => {
    api = centre.api();
  });

  const states = (ids: string[]) => Promise.all(ids.map(async (id) => (await api.task(id)).state as string));

  describe('cancel', () => {
    test('scheduled and queued: never offered', async () => {
      const later = await api.submit({ capability: 'work', delay_ms: 60_000 });
      const waiting = await api.submit({ capability: 'work' });
      expect((await api.task(later)).state).toBe('scheduled');
      expect((await api.task(waiting)).state).toBe('queued');
      for (const id of [later, waiting])
        expect(await api.cancel(id)).toMatchObject({
          status: 200,
          body: { state: 'canceled', canceled: true },
        });
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work' });
      expect((await agent.work()).task_id).toBe(id);
      expect(await states([later, waiting])).toEqual(['canceled', 'canceled']);
    });

    test('offered: the ACK is refused, and the next task is offered', async () => {
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work' });
      const offer = await agent.offer();
      await api.cancel(id);
      expect((await agent.ack(offer.delivery_id)).body).toEqual({ execute: false, reason: 'REACH_CANCELED' });
      const next = await api.submit({ capability: 'work' });
      expect((await agent.work()).task_id).toBe(next);
      expect((await api.task(id)).deliveries).toMatchObject([{ state: 'canceled', agent_id: 'a1' }]);
    });

    test('running: the agent is told, by heartbeat and by session, and its result is refused', async () => {
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work' });
      const offer = await agent.begin();
      expect((await agent.heartbeat([offer.delivery_id])).body.stale).toEqual([]);
      await api.cancel(id);
      const stale = [{ delivery_id: offer.delivery_id, reason: 'REACH_CANCELED' }];
      expect((await agent.heartbeat([offer.delivery_id])).body.stale).toEqual(stale);
      expect((await agent.complete(offer.delivery_id)).body.code).toBe('REACH_CANCELED');
      expect((await agent.progress(offer.delivery_id)).body.code).toBe('REACH_CANCELED');

      const other = centre.api();
      const session = await other.session('s1');
      const second = await other.submit({ capability: 'work' });
      const [running] = await session.offers();
      await session.operate([{ op: 'ack', delivery_id: running.delivery_id }]);
      await other.at(centre.dispatcher(1).url).cancel(second);
      const told = await session.frame('stale', (f) => f.type === 'stale');
      expect(told.deliveries).toEqual([{ delivery_id: running.delivery_id, reason: 'REACH_CANCELED' }]);
      await session.close();
    });

    test('ended, again, and never there', async () => {
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work' });
      await agent.work();
      expect((await api.cancel(id)).body).toMatchObject({ state: 'succeeded', canceled: false });
      const other = await api.submit({ capability: 'nobody' });
      expect((await api.cancel(other)).body).toMatchObject({ canceled: true });
      expect((await api.cancel(other)).body).toMatchObject({ state: 'canceled', canceled: false });
      expect((await api.cancel('01900000-0000-7000-8000-000000000000')).status).toBe(404);
      expect((await centre.api().cancel(id)).status).toBe(404);
    });

    test('1 000 races against the result: one terminal state each, and replies that match it', async () => {
      const agent = await api.agent('a1', { max_concurrency: 100 });
      const counts: Record<string, number> = {};
      for (let round = 0; round < 10; round++) {
        const tasks = Array.from({ length: 100 }, () => ({ namespace: api.namespace, capability: 'work' }));
        await api.post('tasks/batch', { tasks });
        const offers: Json[] = [];
        while (offers.length < 100) offers.push(...(await agent.offers(100)));
        const acks = offers.map((o) => ({ op: 'ack', delivery_id: o.delivery_id }));
        await api.post('deliveries/batch', { lease_id: agent.lease, operations: acks });
        await Promise.all(
          offers.map(async (offer) => {
            const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
            const [canceled, completed] = await Promise.all([
              pause().then(() => api.cancel(offer.task_id)),
              pause().then(() => agent.complete(offer.delivery_id, 'done')),
            ]);
            const task = await api.task(offer.task_id);
            counts[task.state] = (counts[task.state] ?? 0) + 1;
            const won = task.state === 'canceled';
            expect(canceled).toMatchObject({ status: 200, body: { state: task.state, canceled: won } });
            expect(completed).toMatchObject(
              won
                ? { status: 409, body: { code: 'REACH_CANCELED' } }
                : { status: 200, body: { state: 'succeeded' } },
            );
            expect(task.deliveries).toMatchObject([{ state: task.state }]);
          }),
        );
      }
      expect(Object.keys(counts).sort()).toEqual(['canceled', 'succeeded']);
      expect((counts['canceled'] ?? 0) + (counts['succeeded'] ?? 0)).toBe(1000);
    }, 60_000);
  });

  describe('idempotency', () => {
    const key = () => ({ 'idempotency-key': `key-${Math.random()}` });

    test('same key and body: the same task; another body: 422', async () => {
      const headers = key();
      const first = await api.post('tasks', { capability: 'work', payload: 1 }, headers);
      const again = await api.post('tasks', { capability: 'work', payload: 1 }, headers);
      expect(first.body.deduplicated).toBe(false);
      expect(again).toMatchObject({ status: 202, body: { task_id: first.body.task_id, deduplicated: true } });
      const other = await api.post('tasks', { capability: 'work', payload: 2 }, headers);
      expect(other).toMatchObject({
        status: 422,
        body: { code: 'REACH_IDEMPOTENCY_CONFLICT', task_id: first.body.task_id },
      });
      expect((await centre.api().post('tasks', { capability: 'work', payload: 2 }, headers)).status).toBe(
        202,
      );
      const agent = await api.agent('a1');
      await agent.work();
      expect(await agent.offers(1, 0)).toEqual([]);
      const late = await api.post('tasks', { capability: 'work', payload: 1 }, headers);
      expect(late.body).toMatchObject({
        task_id: first.body.task_id,
        state: 'succeeded',
        deduplicated: true,
      });
    });

    test('100 submits at once with one key are one task', async () => {
      const headers = key();
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => api.post('tasks', { capability: 'work' }, headers)),
      );
      expect(new Set(answers.map((a) => a.status))).toEqual(new Set([202]));
      expect(new Set(answers.map((a) => a.body.task_id as string)).size).toBe(1);
      expect(answers.filter((a) => a.body.deduplicated === false)).toHaveLength(1);
      const { body } = await api.get('tasks', { capability: 'work' });
      expect(body.items).toHaveLength(1);
    });

    test('a key in the items of a batch does the same', async () => {
      const item = { namespace: api.namespace, capability: 'work', idempotency_key: 'k1' };
      const tasks = [item, item, { ...item, payload: 'other' }, { ...item, idempotency_key: 'k2' }];
      const { body } = await api.post('tasks/batch', { tasks });
      expect(body).toMatchObject({ accepted: 3, rejected: 1 });
      const ids = body.results.map((r: Json) => r.task_id as string | undefined);
      const conflicts = body.results.filter((r: Json) => r.error?.code === 'REACH_IDEMPOTENCY_CONFLICT');
      expect(conflicts).toHaveLength(1);
      expect(new Set(ids.filter((id: string | undefined) => id !== undefined)).size).toBe(2);
    });
  });

  describe('when', () => {
    test('higher priorities first, equal ones in order', async () => {
      // The agent is busy until all of them wait.
      const agent = await api.agent('a1');
      await api.submit({ capability: 'work' });
      const busy = await agent.begin();
      for (const [payload, priority] of [
        ['b1', 0],
        ['c', -5],
        ['a', 9],
        ['b2', 0],
      ] as const)
        await api.submit({ capability: 'work', payload, priority });
      await agent.complete(busy.delivery_id);
      const order: string[] = [];
      for (let i = 0; i < 4; i++) order.push((await agent.work()).payload as string);
      expect(order).toEqual(['a', 'b1', 'b2', 'c']);
    });

    test('a delay and a run_at are waited for', async () => {
      const agent = await api.agent('a1');
      const runAt = new Date(Date.now() + 900).toISOString();
      const timed = await api.submit({ capability: 'work', payload: 'timed', run_at: runAt });
      const delayed = await api.submit({ capability: 'work', payload: 'delayed', delay_ms: 400 });
      const past = await api.submit({ capability: 'work', payload: 'past', run_at: '2020-01-01T00:00:00Z' });
      expect((await api.task(timed)).state).toBe('scheduled');
      const order: string[] = [];
      for (let i = 0; i < 3; i++) order.push((await agent.work()).payload as string);
      expect(order).toEqual(['past', 'delayed', 'timed']);
      const started = async (id: string) => {
        const task = await api.task(id);
        return Date.parse(task.deliveries[0].offered_at as string) - Date.parse(task.created_at as string);
      };
      expect(await started(delayed)).toBeGreaterThanOrEqual(400);
      expect(await started(delayed)).toBeLessThan(1500);
      expect(await started(past)).toBeLessThan(500);
      const offered = Date.parse((await api.task(timed)).deliveries[0].offered_at as string);
      expect(offered).toBeGreaterThanOrEqual(Date.parse(runAt));
    });

    test('25 days are right, and nothing fires at once', async () => {
      const days25 = 25 * 86_400_000;
      const id = await api.submit({ capability: 'work', delay_ms: days25 });
      const agent = await api.agent('a1');
      const { state, run_at } = await api.task(id);
      expect(state).toBe('scheduled');
      expect(Date.parse(run_at as string) - Date.now()).toBeGreaterThan(days25 - 60_000);
      expect(await agent.offers(1, 300)).toEqual([]);
    });

    test('paused: taken but not offered, until resumed', async () => {
      const agent = await api.agent('a1');
      const paused = await api.post('capabilities/work/pause', { reason: 'a new model is rolled out' });
      expect(paused).toMatchObject({ status: 200, body: { paused: true } });
      await until('all dispatchers know', async () => {
        const views = await Promise.all(
          centre.urls.map(async (url) => (await api.at(url).get('capabilities')).body.items[0]),
        );
        return views.every((v) => v.paused === true && v.pause_reason === 'a new model is rolled out');
      });
      const id = await api.submit({ capability: 'work' });
      expect(await agent.offers(1, 300)).toEqual([]);
      expect((await api.get(`tasks/${id}/explain`)).body.headline).toContain('work is paused');
      await api.post('capabilities/work/resume', {});
      expect((await agent.work()).task_id).toBe(id);
    });
  });

  describe('expiry says why', () => {
    const expired = async (task: object) => {
      const id = await api.submit({ expires_in_ms: 500, ...task });
      const ended = await api.ended(id);
      expect(ended).toMatchObject({ state: 'expired', error: { code: 'REACH_TASK_EXPIRED' } });
      const attributions = await api.attributions(id);
      expect(attributions).toMatchObject([{ final: true, stage: 'placement', code: 'REACH_TASK_EXPIRED' }]);
      expect((await api.get(`tasks/${id}/explain`)).body.headline).toContain(attributions[0].message);
      return attributions[0];
    };

    test('nobody offers it', async () => {
      const why = await expired({ capability: 'unheard.of' });
      expect(why).toMatchObject({ blame: 'caller' });
      expect(why.message).toContain('no registered agent offers unheard.of');
    });

    test('it offers it, but does not fit', async () => {
      await api.agent('a1');
      const why = await expired({ capability: 'work', constraints: { tags: ['gpu'] } });
      expect(why.message).toContain('a1 lacks the tag gpu');
    });

    test('everybody is busy', async () => {
      const agent = await api.agent('a1');
      await api.submit({ capability: 'work' });
      await agent.begin();
      const why = await expired({ capability: 'work' });
      expect(why).toMatchObject({ blame: 'platform' });
      expect(why.message).toContain('a1 busy');
    });

    test('nobody can be reached', async () => {
      const session = await api.session('s1');
      session.cut();
      await api.agentIs('s1', 'suspicious');
      const why = await expired({ capability: 'work' });
      expect(why).toMatchObject({ blame: 'agent' });
      expect(why.message).toContain('s1 suspicious: session broken');
    });

    test('it was paused', async () => {
      await api.agent('a1');
      await api.post('capabilities/work/pause', {});
      const why = await expired({ capability: 'work' });
      expect(why.message).toContain('work was paused');
    });

    test('it expires while it waits for its time, and before its retry', async () => {
      const why = await expired({ capability: 'work', delay_ms: 60_000 });
      expect(why.message).toMatch(/its time/);
    });
  });

  describe('many at once', () => {
    test('good and bad items of a batch are answered one by one', async () => {
      const big = { namespace: api.namespace, capability: 'work', payload: 'x'.repeat(300_000) };
      const good = { namespace: api.namespace, capability: 'work' };
      const range = { namespace: api.namespace, capability: 'work@not a range' };
      const { status, body } = await api.post('tasks/batch', { tasks: [good, big, range, good] });
      expect(status).toBe(202);
      expect(body).toMatchObject({
        accepted: 2,
        rejected: 2,
        results: [
          { state: 'queued' },
          { error: { code: 'REACH_PAYLOAD_TOO_LARGE' } },
          { error: { code: 'REACH_VALIDATION_FAILED' } },
          { state: 'queued' },
        ],
      });
      const malformed = await api.post('tasks/batch', { tasks: [good, { ...good, priority: 'high' }] });
      expect(malformed).toMatchObject({ status: 400, body: { errors: [{ pointer: '/tasks/1/priority' }] } });
      expect((await api.get('tasks')).body.items).toHaveLength(2);
    });

    test('pages hold every task once, newest first, also while more come', async () => {
      const tasks = Array.from({ length: 57 }, (_, payload) => ({
        namespace: api.namespace,
        capability: 'w',
        payload,
      }));
      await api.post('tasks/batch', { tasks });
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const { body } = await api.get('tasks', { limit: 10, ...(cursor !== undefined && { cursor }) });
        seen.push(...body.items.map((t: Json) => t.task_id as string));
        cursor = body.next_cursor as string | undefined;
        await api.submit({ capability: 'later' });
      } while (cursor !== undefined);
      expect(seen).toHaveLength(57);
      expect(new Set(seen).size).toBe(57);
      expect([...seen].sort().reverse()).toEqual(seen);
      expect((await api.get('tasks', { cursor: 'nonsense' })).status).toBe(400);
    });

    test('agents and attributions are paged too', async () => {
      for (const id of ['a', 'b', 'c']) await api.agent(id);
      const first = (await api.get('agents', { limit: 2 })).body;
      const second = (await api.get('agents', { limit: 2, cursor: first.next_cursor })).body;
      expect([...first.items, ...second.items].map((a) => a.agent_id)).toEqual(['a', 'b', 'c']);
      expect(second.next_cursor).toBeUndefined();
      const failing = Array.from({ length: 3 }, () => api.submit({ capability: 'no', expires_in_ms: 1 }));
      for (const id of await Promise.all(failing)) await api.ended(id);
      const page = (await api.get('attributions', { limit: 2 })).body;
      const rest = (await api.get('attributions', { limit: 2, cursor: page.next_cursor })).body;
      expect(page.items).toHaveLength(2);
      expect(rest.items).toHaveLength(1);
      const { groups } = (await api.get('attributions/summary', { group_by: 'code' })).body;
      expect(groups).toMatchObject([{ key: 'REACH_TASK_EXPIRED', tasks: 3, attempts: 0 }]);
    });
  });

  describe('again', () => {
    const fail = async (capability: string) => {
      const agent = await api.agent(`agent-of-${capability}`, { capabilities: [capability] });
      const id = await api.submit({ capability, payload: { keep: 'me' }, priority: 7 });
      const offer = await agent.begin();
      await agent.fail(offer.delivery_id, { message: 'no' });
      return { id, agent };
    };

    test('an ended task is submitted as a new one, an open one is not', async () => {
      const { id, agent } = await fail('work');
      const retried = await api.post(`tasks/${id}/retry`);
      expect(retried).toMatchObject({ status: 202, body: { retry_of: id } });
      expect(['queued', 'offered']).toContain(retried.body.state);
      expect(await agent.work()).toMatchObject({ task_id: retried.body.task_id, payload: { keep: 'me' } });
      expect(await api.ended(retried.body.task_id)).toMatchObject({
        state: 'succeeded',
        retry_of: id,
        priority: 7,
      });
      expect((await api.task(id)).state).toBe('failed');
      const open = await api.submit({ capability: 'nobody' });
      expect(await api.post(`tasks/${open}/retry`)).toMatchObject({
        status: 409,
        body: { code: 'REACH_STATE_CONFLICT' },
      });
    });

    test('many by filter, after a look with dry_run', async () => {
      const failed = [await fail('one'), await fail('two')].map((f) => f.id);
      const dry = await api.post('tasks/retry', { capability: 'one', dry_run: true });
      expect(dry.body).toEqual({ matched: 1, retried: [], failed: [], dry_run: true });
      expect((await api.get('tasks')).body.items).toHaveLength(2);
      const real = await api.post('tasks/retry', { code: 'AGENT_ERROR' });
      expect(real.body.retried.map((r: Json) => r.retry_of).sort()).toEqual([...failed].sort());
      expect((await api.get('tasks')).body.items).toHaveLength(4);
      // Its answer lost and the call repeated: what was submitted anew is not submitted a third time.
      const again = await api.post('tasks/retry', { code: 'AGENT_ERROR' });
      expect(again.body.retried).toEqual([]);
    });

    test('more than a caller may have tried again at once wait for a while, through whichever dispatcher', async () => {
      const tasks = Array.from({ length: 40 }, () => ({
        namespace: api.namespace,
        capability: 'nobody',
        expires_in_ms: 1,
      }));
      const { body } = await api.post('tasks/batch', { tasks });
      for (const { task_id } of body.results) await api.ended(task_id as string);
      const began = Date.now();
      const retry = (limit: number) => api.post('tasks/retry', { state: 'expired', limit });
      const retried = [...(await retry(25)).body.retried, ...(await retry(15)).body.retried] as Json[];
      expect(retried).toHaveLength(40);
      const waiting = retried.filter((r) => r.state === 'scheduled');
      expect(retried.length - waiting.length).toBeGreaterThanOrEqual(10);
      // A token each 300 ms may have come meanwhile.
      const came = Math.ceil((Date.now() - began) / 300);
      expect(retried.length - waiting.length).toBeLessThanOrEqual(10 + came);
      const starts = await Promise.all(
        waiting.map(async (r) => Date.parse((await api.task(r.task_id)).run_at)),
      );
      expect(Math.max(...starts) - Math.min(...starts)).toBeGreaterThan(3000);
      expect(Math.max(...starts)).toBeLessThan(Date.now() + 30 * 300);
    });
  });

  describe('the story', () => {
    test('explain tells it in order; the stream gives the same and can be resumed', async () => {
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work', idempotent: true });
      const stream = api.events(id);
      const offer = await agent.begin();
      await agent.progress(offer.delivery_id, { note: 'half way' });
      await agent.fail(offer.delivery_id, { message: 'stumbled' });
      await agent.work();
      await api.ended(id);
      const { body } = await api.get(`tasks/${id}/explain`);
      const kinds = body.story.map((e: Json) => e.kind).filter((kind: string) => kind !== 'agent_state');
      expect(kinds).toEqual([
        'accepted',
        'offered',
        'acknowledged',
        'closed',
        'attribution',
        'offered',
        'acknowledged',
        'closed',
        'ended',
      ]);
      expect(body.headline).toBe('succeeded at a1 after 1 failed attempt');
      expect(body.attributions).toMatchObject([{ code: 'REACH_AGENT_ERROR', final: false }]);

      const events = await stream;
      expect(events.map((e) => e.event)).toEqual(kinds);
      expect(events.map((e) => e.id)).toEqual(events.map((_, i) => i + 1));
      const resumed = await api.events(id, 4);
      expect(resumed).toEqual(events.slice(4));
      expect((await api.get('tasks/01900000-0000-7000-8000-000000000000/events')).status).toBe(404);
    });

    test('a waiting task says what it waits for', async () => {
      const id = await api.submit({ capability: 'unheard.of' });
      const headline = async () => (await api.get(`tasks/${id}/explain`)).body.headline as string;
      expect(await headline()).toBe('waits: no registered agent offers unheard.of');
    });
  });
});
