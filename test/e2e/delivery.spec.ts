import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Agent, Client, type IncomingTask } from '@agent-reach/sdk';
import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { RawSession } from '../support/raw-session.js';
import { until } from '../support/until.js';

inBothModes('the way of a task', (mode) => {
  // Endpoints that do not answer are to be found out by pushing.
  const centre = Centre.ofSuite(mode, { env: { REACH_PROBE_INTERVAL_L1_MS: '3600000' } });
  let api: Api;

  beforeEach(() => {
    api = centre.api();
  });

  describe('happy path', () => {
    test('over a long poll', async () => {
      const agent = await api.agent('a1');
      const offered = agent.offer();
      const accepted = await api.post('tasks', { capability: 'work', payload: { n: 1 }, priority: 3 });
      expect(accepted.status).toBe(202);
      expect(accepted.headers.get('location')).toBe(`/api/v1/tasks/${accepted.body.task_id}`);
      const offer = await offered;
      expect(offer).toMatchObject({
        task_id: accepted.body.task_id,
        payload: { n: 1 },
        attempt: 1,
        fence: 1,
        capability: 'work',
        idempotent: false,
      });
      const ack = await agent.ack(offer.delivery_id);
      expect(ack).toMatchObject({ status: 200, body: { execute: true, deadline: expect.any(String) } });
      expect((await api.task(offer.task_id)).state).toBe('running');
      const done = await agent.complete(offer.delivery_id, { answer: 42 });
      expect(done).toMatchObject({ status: 200, body: { task_id: offer.task_id, state: 'succeeded' } });
      expect(await api.ended(offer.task_id)).toMatchObject({
        state: 'succeeded',
        result: { answer: 42 },
        attempt: 1,
        agent_id: 'a1',
        deliveries: [{ delivery_id: offer.delivery_id, agent_id: 'a1', state: 'succeeded' }],
      });
      expect(await api.attributions(offer.task_id)).toEqual([]);
    });

    test('over a session, many tasks in few frames', async () => {
      const session = await api.session('s1', { max_concurrency: 50 });
      const tasks = Array.from({ length: 50 }, (_, n) => ({
        namespace: api.namespace,
        capability: 'work',
        payload: n,
      }));
      const batch = await api.post('tasks/batch', { tasks });
      expect(batch.body).toMatchObject({ accepted: 50, rejected: 0 });
      const offers: Json[] = [];
      while (offers.length < 50) offers.push(...(await session.offers()));
      const acks = await session.operate(offers.map((o) => ({ op: 'ack', delivery_id: o.delivery_id })));
      expect(acks.every((a) => a.execute === true)).toBe(true);
      const done = await session.operate(
        offers.map((o) => ({ op: 'complete', delivery_id: o.delivery_id, outputs: o.payload * 2 })),
      );
      expect(done.every((a) => a.state === 'succeeded')).toBe(true);
      const ids = batch.body.results.map((r: Json) => r.task_id) as string[];
      const ended = await Promise.all(ids.map((id) => api.ended(id)));
      expect(ended.map((t) => t.result)).toEqual(Array.from({ length: 50 }, (_, n) => n * 2));
      await session.close();
    });

    test('over HTTP push', async () => {
      const pushed: Json[] = [];
      const endpoint = await receiver((body) => {
        pushed.push(body);
        return { ack: true };
      });
      const agent = await api.agent('p1', { transport: 'push', endpoint: endpoint.url });
      const id = await api.submit({ capability: 'work', payload: 'x' });
      await api.reached(id, 'running');
      expect(pushed).toMatchObject([{ task_id: id, payload: 'x', lease_id: agent.lease }]);
      expect((await agent.complete(pushed[0].delivery_id, 'y')).status).toBe(200);
      expect(await api.ended(id)).toMatchObject({ state: 'succeeded', result: 'y' });
      endpoint.server.close();
    });

    test('with the SDK on both sides', async () => {
      const client = new Client({ url: centre.urls });
      const agent = new Agent({
        url: centre.urls,
        agentId: 'sdk',
        capabilities: {
          'text.reverse': ({ payload }: IncomingTask<string>) => [...payload].reverse().join(''),
        },
        maxConcurrency: 4,
      });
      await agent.start();
      const results = await Promise.all(
        ['abc', 'über', '👍a'].map((payload) => client.run({ capability: 'text.reverse', payload })),
      );
      expect(results).toEqual(['cba', 'rebü', 'a👍']);
      await agent.stop();
      expect(await centre.api('default').agentView('sdk')).toMatchObject({ state: 'removing' });
    });

    test('a session on one dispatcher gets what another one accepts', async () => {
      const near = api.at(centre.dispatcher(0).url);
      const far = api.at(centre.dispatcher(1).url);
      const session = await near.session('s1');
      const id = await far.submit({ capability: 'work' });
      const [offer] = await session.offers();
      await session.operate([{ op: 'ack', delivery_id: offer.delivery_id }]);
      await session.operate([{ op: 'complete', delivery_id: offer.delivery_id }]);
      expect((await far.ended(id)).state).toBe('succeeded');
      await session.close();
    });

    test('a broken session is taken up again, and keeps its work and its offers', async () => {
      const session = await api.session('s1', { max_concurrency: 2 });
      const first = await api.submit({ capability: 'work' });
      const [running] = await session.offers();
      await session.operate([{ op: 'ack', delivery_id: running.delivery_id }]);
      const second = await api.submit({ capability: 'work' });
      const [offer] = await session.offers();
      session.cut();
      const again = await RawSession.resume(api, session, [running.delivery_id]);
      const [same] = await again.offers();
      expect(same.delivery_id).toBe(offer.delivery_id);
      const answers = await again.operate([
        { op: 'complete', delivery_id: running.delivery_id },
        { op: 'ack', delivery_id: same.delivery_id },
        { op: 'complete', delivery_id: same.delivery_id },
      ]);
      expect(answers.map((a) => a.state ?? a.execute)).toContain('succeeded');
      await again.operate([{ op: 'complete', delivery_id: same.delivery_id }]);
      expect(await Promise.all([first, second].map(async (id) => (await api.ended(id)).state))).toEqual([
        'succeeded',
        'succeeded',
      ]);
      await again.close();
    });
  });

  describe('acknowledging', () => {
    test('a deaf agent is passed over, and its late ACK and result change nothing', async () => {
      const deaf = await api.agent('deaf');
      const id = await api.submit({ capability: 'work', ack_timeout_ms: 400, max_attempts: 3 });
      const first = await deaf.offer();
      const other = await api.agent('other');
      const second = await other.offer();
      expect(second).toMatchObject({ task_id: id, attempt: 2, fence: 2 });

      expect((await deaf.ack(first.delivery_id)).body).toEqual({
        execute: false,
        reason: 'REACH_DELIVERY_SUPERSEDED',
      });
      expect(await deaf.complete(first.delivery_id, 'late')).toMatchObject({
        status: 409,
        body: { code: 'REACH_DELIVERY_SUPERSEDED' },
      });
      // The late ACK did not count for delivery 2: it times out by its own clock.
      const began = Date.parse((await api.task(id)).deliveries[1].offered_at);
      // Both have been tried, so it may be either.
      const [agent, third] = await Promise.race(
        [deaf, other].map(async (a) => [a, await a.offer()] as const),
      );
      expect(third).toMatchObject({ task_id: id, attempt: 3 });
      expect((await agent.ack(third.delivery_id)).body.execute).toBe(true);
      const { deliveries } = await api.task(id);
      expect(deliveries).toMatchObject([
        { agent_id: 'deaf', code: 'REACH_ACK_TIMEOUT' },
        { agent_id: 'other', code: 'REACH_ACK_TIMEOUT' },
        { state: 'running' },
      ]);
      expect(Date.parse(deliveries[1].finished_at) - began).toBeGreaterThanOrEqual(400);
      await agent.complete(third.delivery_id, 'in time');
      expect(await api.ended(id)).toMatchObject({ state: 'succeeded', result: 'in time' });
      expect(await api.attributions(id)).toMatchObject([
        {
          code: 'REACH_ACK_TIMEOUT',
          agent_id: 'deaf',
          stage: 'offer',
          blame: 'agent',
          attempt: 1,
          final: false,
        },
        { code: 'REACH_ACK_TIMEOUT', agent_id: 'other', attempt: 2, final: false },
      ]);
    });

    test('the ACK of an earlier delivery is none of the present one, at the same agent too', async () => {
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work', ack_timeout_ms: 500 });
      const first = await agent.offer();
      const second = await agent.offer();
      expect(second).toMatchObject({ task_id: id, fence: 2 });
      expect((await agent.ack(first.delivery_id)).body).toEqual({
        execute: false,
        reason: 'REACH_DELIVERY_SUPERSEDED',
      });
      expect((await api.task(id)).state).toBe('offered');
      expect((await agent.ack(second.delivery_id)).body.execute).toBe(true);
      expect((await agent.complete(first.delivery_id)).status).toBe(409);
      expect((await agent.complete(second.delivery_id)).status).toBe(200);
    });

    test('a lost answer: asked again it is the same, for the ACK and for the result', async () => {
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work' });
      const offer = await agent.offer();
      const asked = await Promise.all([1, 2, 3].map(() => agent.ack(offer.delivery_id)));
      const again = await agent.ack(offer.delivery_id);
      expect(again.body).toMatchObject({ execute: true });
      for (const answer of asked) expect(answer.body).toEqual(again.body);
      const results = await Promise.all([1, 2, 3].map((n) => agent.complete(offer.delivery_id, n)));
      results.push(await agent.complete(offer.delivery_id, 4));
      for (const r of results)
        expect(r).toMatchObject({ status: 200, body: { task_id: id, state: 'succeeded' } });
      expect([1, 2, 3]).toContain((await api.ended(id)).result);
      expect((await api.task(id)).deliveries).toHaveLength(1);
    });

    test('a repeated failure gets the same answer and is counted once', async () => {
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work' });
      const offer = await agent.begin();
      const report = { code: 'AGENT_ERROR', message: 'broken' };
      const answers = await Promise.all([1, 2, 3].map(() => agent.fail(offer.delivery_id, report)));
      for (const a of answers) expect(a).toMatchObject({ status: 200, body: { state: 'failed' } });
      expect(await api.attributions(id)).toHaveLength(1);
      expect((await agent.complete(offer.delivery_id)).body.code).toBe('REACH_DELIVERY_SUPERSEDED');
    });

    test('work before the ACK does not count', async () => {
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work' });
      const offer = await agent.offer();
      expect(await agent.complete(offer.delivery_id)).toMatchObject({
        status: 409,
        body: { code: 'REACH_STATE_CONFLICT' },
      });
      expect((await api.task(id)).state).toBe('offered');
    });

    test('deliveries of others, and of nothing', async () => {
      const [one, two] = [await api.agent('one'), await api.agent('two', { capabilities: ['other'] })];
      const id = await api.submit({ capability: 'work' });
      const offer = await one.offer();
      expect((await two.ack(offer.delivery_id)).body.execute).toBe(false);
      expect((await api.task(id)).state).toBe('offered');
      expect((await one.ack(offer.delivery_id)).body.execute).toBe(true);
      expect((await two.complete(offer.delivery_id)).body.code).toBe('REACH_LEASE_SUPERSEDED');
      expect((await two.ack(offer.delivery_id)).body).toMatchObject({ execute: false });
      const nothing = `${id.slice(0, -6)}ffffff.1`;
      expect((await one.complete(nothing)).status).toBe(404);
      expect((await one.ack(nothing)).body).toEqual({ execute: false, reason: 'REACH_NOT_FOUND' });
      expect((await one.complete(`${id}.7`)).status).toBe(409);
      expect((await api.task(id)).state).toBe('running');
    });

    test('an operation of a batch that fails leaves the others alone', async () => {
      const agent = await api.agent('a1', { max_concurrency: 2 });
      await api.submit({ capability: 'work' });
      await api.submit({ capability: 'work' });
      const offers = [await agent.begin(), await agent.begin()];
      const { body } = await api.post('deliveries/batch', {
        lease_id: agent.lease,
        operations: [
          { op: 'complete', delivery_id: offers[0].delivery_id },
          { op: 'complete', delivery_id: `${offers[0].task_id}.9` },
          { op: 'fail', delivery_id: offers[1].delivery_id, message: 'no' },
        ],
      });
      expect(body.answers).toMatchObject([
        { state: 'succeeded' },
        { error: { code: 'REACH_DELIVERY_SUPERSEDED' } },
        { state: 'failed' },
      ]);
    });
  });

  describe('pushing', () => {
    test('a refusal goes elsewhere, a dead endpoint is told as such', async () => {
      // The other agent comes while the first is being asked: neither earlier, to be asked first, nor too late.
      let willing: ReturnType<typeof api.agent> | undefined;
      const refusing = await receiver(async () => {
        willing ??= api.agent('willing');
        await willing;
        return { ack: false, reason: 'too long for me' };
      });
      await api.agent('refusing', { transport: 'push', endpoint: refusing.url });
      const id = await api.submit({ capability: 'work', max_attempts: 2 });
      await until('the first agent is asked', () => willing !== undefined);
      expect((await (await willing)?.work())?.task_id).toBe(id);
      expect(await api.attributions(id)).toMatchObject([
        { code: 'REACH_AGENT_REFUSED', agent_id: 'refusing' },
      ]);
      refusing.server.close();

      const other = centre.api();
      await other.agent('gone', { transport: 'push', endpoint: refusing.url });
      const failed = await other.ended(await other.submit({ capability: 'work', max_attempts: 2 }));
      expect(failed).toMatchObject({ state: 'failed', error: { code: 'REACH_CONNECTION_FAILED' } });
      expect(await other.attributions(failed.task_id)).toMatchObject([
        { code: 'REACH_CONNECTION_FAILED', blame: 'network', final: false },
        { code: 'REACH_CONNECTION_FAILED', blame: 'network', final: true },
      ]);
    });

    test('an answer that never comes may hide work that began', async () => {
      const silent = await receiver(() => undefined);
      await api.agent('silent', { transport: 'push', endpoint: silent.url });
      const [once_, twice] = await Promise.all([
        api.submit({ capability: 'work', ack_timeout_ms: 300 }),
        api.submit({ capability: 'work', ack_timeout_ms: 300, idempotent: true, max_attempts: 2 }),
      ]);
      expect(await api.ended(once_)).toMatchObject({ state: 'failed', attempt: 1 });
      expect(await api.ended(twice)).toMatchObject({ state: 'failed', attempt: 2 });
      silent.server.closeAllConnections();
      silent.server.close();
    });
  });
});

/** An HTTP endpoint that answers pushes; undefined: it never answers. */
async function receiver(
  answer: (body: Json) => object | undefined | Promise<object>,
): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      void Promise.resolve(answer(JSON.parse(text))).then((body) => {
        if (body === undefined) return;
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/push`, server };
}
