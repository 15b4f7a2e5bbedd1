import type { Answer, Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';

const BODY_LIMIT = 1_048_576;
const PAYLOAD_LIMIT = 262_144;

inBothModes('bad input', (mode) => {
  const centre = Centre.ofSuite(mode);
  let api: Api;

  beforeEach(() => {
    api = centre.api();
  });

  /** Posts a body as it stands. */
  const raw = (text: string, path = 'tasks') => api.call('POST', `/api/v1/${path}`, text);
  const refused = (answer: Answer, pointer: string) =>
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: 'REACH_VALIDATION_FAILED',
        errors: expect.arrayContaining([expect.objectContaining({ pointer })]),
      },
    });

  describe('texts that Postgres cannot hold', () => {
    test.each([
      ['NUL', '\\u0000'],
      ['a lone high surrogate', '\\ud800'],
      ['a lone low surrogate', 'x\\udc00y'],
    ])('%s: refused with its place in what a caller sends', async (_name, text) => {
      refused(await raw(`{"capability":"work","payload":{"a":[1,{"b/c":"${text}"}]}}`), '/payload/a/1/b~1c');
      refused(await raw(`{"capability":"w${text}"}`), '/capability');
      refused(await raw(`{"agent_id":"a${text}"}`), '/agent_id');
      refused(await raw(`{"agent_id":"a${text}","capabilities":["work"]}`, 'agent/register'), '/agent_id');
    });

    test.each(['\u0000', '\ud800', 'ok \udfff \u0000 end'])(
      '%j: kept with a replacement in what an agent reports, and the task ends as it did',
      async (text) => {
        const kept = text.replaceAll('\u0000', '\ufffd').toWellFormed();
        const agent = await api.agent('a1');
        const done = await api.submit({ capability: 'work' });
        const first = await agent.begin();
        await agent.progress(first.delivery_id, { note: text });
        const answer = await agent.complete(first.delivery_id, { [text]: [text] });
        expect(answer).toMatchObject({ status: 200, body: { state: 'succeeded' } });
        expect((await api.ended(done)).result).toEqual({ [kept]: [kept] });

        const failed = await api.submit({ capability: 'work' });
        const second = await agent.begin();
        const report = { code: `X${text}`, message: text, raw_error: { text }, dependency: `d${text}` };
        expect((await agent.fail(second.delivery_id, report)).status).toBe(200);
        expect(await api.ended(failed)).toMatchObject({
          state: 'failed',
          error: { raw_error: { text: kept } },
        });
        const attributions = await api.attributions(failed);
        expect(attributions).toHaveLength(1);
        expect(attributions[0]).toMatchObject({ dependency: `d${kept}`, final: true });
      },
    );

    test('over a session too', async () => {
      const session = await api.session('s1');
      const id = await api.submit({ capability: 'work' });
      const [offer] = await session.offers();
      await session.operate([{ op: 'ack', delivery_id: offer.delivery_id }]);
      await session.operate([{ op: 'complete', delivery_id: offer.delivery_id, outputs: 'a\u0000\ud800' }]);
      expect((await api.ended(id)).result).toBe('a\ufffd\ufffd');
      await session.close();
    });

    test('a long message is cut, never within a character', async () => {
      const agent = await api.agent('a1');
      for (const pad of ['', 'x']) {
        const id = await api.submit({ capability: 'work' });
        const offer = await agent.begin();
        await agent.fail(offer.delivery_id, { message: pad + '👍'.repeat(40_000) });
        const [why] = await api.attributions(id);
        expect(why.message.isWellFormed()).toBe(true);
        expect(why.message).not.toContain('\ufffd');
        expect(why.message.length).toBeLessThanOrEqual(2000);
      }
    });
  });

  describe('sizes', () => {
    /** A task whose body has exactly `bytes`. */
    const bodyOf = (bytes: number) => {
      const frame = JSON.stringify({ namespace: api.namespace, capability: 'work', affinity_key: '' });
      return frame.slice(0, -1) + ' '.repeat(bytes - frame.length) + '}';
    };

    test('a payload of the limit is taken, a byte more is not', async () => {
      const payload = (bytes: number) => 'x'.repeat(bytes - 2);
      expect((await api.post('tasks', { capability: 'work', payload: payload(PAYLOAD_LIMIT) })).status).toBe(
        202,
      );
      const over = await api.post('tasks', { capability: 'work', payload: payload(PAYLOAD_LIMIT + 1) });
      expect(over).toMatchObject({
        status: 413,
        body: { code: 'REACH_PAYLOAD_TOO_LARGE', errors: [{ pointer: '/payload' }] },
      });
      // Bytes count, not characters.
      const wide = await api.post('tasks', { capability: 'work', payload: 'ü'.repeat(PAYLOAD_LIMIT / 2) });
      expect(wide.status).toBe(413);
    });

    test('a body of limit - 1 and of the limit, of limit + 1, of 50 MB', async () => {
      const sized = (bytes: number) => bodyOf(bytes).replace('"affinity_key":""', '"affinity_key":"k"');
      // One character more for the key, so one space less.
      expect((await raw(sized(BODY_LIMIT - 2))).status).toBe(202);
      expect((await raw(sized(BODY_LIMIT - 1))).status).toBe(202);
      expect((await raw(sized(BODY_LIMIT))).status).toBe(413);
      // The connection may be closed while the body is still on its way; what counts is that it is refused.
      const huge = await raw(bodyOf(50 * BODY_LIMIT)).catch(() => undefined);
      expect(huge?.status ?? 413).toBe(413);
      expect((await api.get('agents')).status).toBe(200);
    });

    test('outputs of an agent have their limit too, and the task stays its own', async () => {
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work' });
      const offer = await agent.begin();
      const big = await agent.complete(offer.delivery_id, 'x'.repeat(PAYLOAD_LIMIT + 1));
      expect(big).toMatchObject({ status: 413, body: { code: 'REACH_PAYLOAD_TOO_LARGE' } });
      expect((await api.task(id)).state).toBe('running');
      expect((await agent.complete(offer.delivery_id, 'small')).status).toBe(200);
    });

    test('nested 200 000 deep', async () => {
      const deep = '['.repeat(200_000) + ']'.repeat(200_000);
      expect((await raw(`{"capability":"work","payload":${deep}}`)).status).toBe(400);
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work' });
      const offer = await agent.begin();
      const body = `{"lease_id":"${agent.lease}","outputs":${deep}}`;
      expect((await raw(body, `deliveries/${offer.delivery_id}/complete`)).status).toBe(400);
      expect((await api.task(id)).state).toBe('running');
    });
  });

  describe('shapes', () => {
    test('__proto__ and its like pollute nothing', async () => {
      const bad = ['{"__proto__":{"x":1}}', '{"constructor":{"prototype":{"x":1}}}'];
      for (const payload of bad) {
        const answer = await raw(`{"capability":"work","payload":${payload}}`);
        expect(answer.status).toBe(400);
      }
      const agent = await api.agent('a1');
      const id = await api.submit({ capability: 'work' });
      const offer = await agent.begin();
      const body = `{"lease_id":"${agent.lease}","outputs":{"__proto__":{"polluted":true},"a":1}}`;
      expect((await raw(body, `deliveries/${offer.delivery_id}/complete`)).status).toBe(200);
      const task = await api.ended(id);
      expect(task.state).toBe('succeeded');
      expect(task.polluted).toBeUndefined();
      expect((await api.task(id)).result.a).toBe(1);
    });

    test.each([
      ['not JSON', '{"capability":'],
      ['not an object', '[]'],
      ['nothing', ''],
      ['a number', '7'],
      ['no target', '{"payload":1}'],
      ['two targets', '{"agent_id":"a","name":"b"}'],
      ['both', '{"capability":"a","capabilities":["b"]}'],
      ['an empty list', '{"capabilities":[]}'],
      ['a wrong type', '{"capability":7}'],
    ])('%s: 400', async (_name, text) => {
      const answer = await raw(text);
      expect(answer).toMatchObject({ status: 400, body: { code: 'REACH_VALIDATION_FAILED' } });
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      expect(answer.body.trace_id).toEqual(expect.any(String));
    });

    test('a key twice: the last one counts, as JSON.parse has it', async () => {
      const answer = await raw(`{"namespace":"${api.namespace}","capability":"one","capability":"two"}`);
      expect(answer.status).toBe(202);
      expect((await api.task(answer.body.task_id)).capability).toBe('two');
    });
  });

  describe('times', () => {
    test.each([
      ['-5', '-5'],
      ['1e15', '1e15'],
      ['NaN', 'NaN'],
      ['a text', '"5"'],
      ['a fraction', '1.5'],
      ['1e400', '1e400'],
      ['null', 'null'],
    ])('a delay of %s: 400', async (_name, text) => {
      const answer = await raw(`{"capability":"work","delay_ms":${text}}`);
      expect(answer.status).toBe(400);
      if (text !== 'NaN') expect(answer.body.errors[0].pointer).toBe('/delay_ms');
    });

    test.each([
      '2026-02-30T00:00:00Z',
      'tomorrow',
      '2026-13-01T00:00:00Z',
      '0000-12-31T23:59:59Z',
      '1764500000000',
      '',
    ])('run_at %j: 400', async (runAt) => {
      refused(await api.post('tasks', { capability: 'work', run_at: runAt }), '/run_at');
    });

    test.each(['+999999-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z'])(
      'run_at %j: the right time, or 400',
      async (runAt) => {
        const answer = await api.post('tasks', { capability: 'work', run_at: runAt });
        expect([202, 400]).toContain(answer.status);
        if (answer.status === 202)
          expect(Date.parse((await api.task(answer.body.task_id)).run_at)).toBe(Date.parse(runAt));
      },
    );
  });

  describe('ids', () => {
    const STRANGE = [
      'a:b',
      'a:b:c',
      '123',
      '0123',
      'x/y',
      'a b',
      'é',
      'e\u0301',
      '👍🏽',
      '%2F',
      'a?b#c',
      '...',
      '{a}',
      'nüll',
      '-',
    ];

    test('strange ones work in every route, and each is only itself', async () => {
      for (const id of STRANGE) {
        const agent = await api.agent(id, { capabilities: ['work'] });
        const task = await api.submit({ agent_id: id, payload: id });
        expect(await agent.work(id)).toMatchObject({ task_id: task, payload: id });
        expect(await api.agentView(id)).toMatchObject({ agent_id: id, state: 'online' });
        const { body } = await api.get('tasks', { agent_id: id });
        expect(body.items.map((t: Json) => t.task_id)).toEqual([task]);
      }
      const { body } = await api.get('agents', { limit: 500 });
      expect(body.items.map((a: Json) => a.agent_id as string).sort()).toEqual([...STRANGE].sort());
      for (const id of STRANGE) {
        const path = `agents/${encodeURIComponent(id)}/drain?namespace=${api.namespace}`;
        expect(await api.post(path, {})).toMatchObject({ status: 200, body: { agent_id: id } });
      }
    });

    test.each(['', '.', '..', 'a\nb', 'a\tb', '\u0007', 'x'.repeat(201)])(
      '%j: 400 with its field',
      async (id) => {
        refused(await api.post('agent/register', { agent_id: id, capabilities: ['work'] }), '/agent_id');
        refused(await api.post('tasks', { agent_id: id }), '/agent_id');
        refused(await api.post('tasks', { namespace: id, capability: 'work' }), '/namespace');
      },
    );

    test('strange capabilities, namespaces and keys', async () => {
      for (const name of ['a:b', '123', 'x/y', 'é', 'e\u0301', '👍🏽', 'a.b-c_d']) {
        const other = centre.api(`ns:${name}`);
        const agent = await other.agent('a1', { capabilities: [name] });
        const headers = { 'idempotency-key': encodeURIComponent(name) };
        const id = await other.submit({ capability: name }, headers);
        expect((await agent.work()).task_id).toBe(id);
        const paused = await other.post(`capabilities/${encodeURIComponent(name)}/pause`, {});
        expect(paused).toMatchObject({ status: 200, body: { capability: name, paused: true } });
      }
      for (const name of ['', 'a b', 'a\u0000', 'x'.repeat(201)])
        expect((await api.post('tasks', { capability: name })).status).toBe(400);
    });

    test('malformed paths and queries', async () => {
      for (const path of [
        'tasks/123',
        'tasks/%00',
        'tasks/..%2f..',
        'tasks/x%ff',
        `tasks/${'a'.repeat(5000)}`,
      ]) {
        const { status } = await api.get(path);
        expect([400, 404, 414]).toContain(status);
      }
      for (const query of [{ wait_ms: -1 }, { wait_ms: 1e9 }, { wait_ms: 'x' }])
        expect((await api.get('tasks/01900000-0000-7000-8000-000000000000', query)).status).toBe(400);
      for (const query of [
        { limit: 0 },
        { limit: 501 },
        { state: 'nope' },
        { since: 'x' },
        { until: '0000-01-01T00:00:00Z' },
        { cursor: 'x' },
      ])
        expect((await api.get('tasks', query)).status).toBe(400);
      for (const id of [
        'x',
        '01900000-0000-7000-8000-000000000000',
        '01900000-0000-7000-8000-000000000000.0',
      ]) {
        const answer = await api.call('POST', `/api/v1/deliveries/${id}/ack`, { lease_id: '1' });
        expect(answer.status).toBe(400);
      }
    });
  });

  test('a capability is not registered as name@version, and is told how it is', async () => {
    const answer = await api.post('agent/register', { agent_id: 'a1', capabilities: ['ok', 'work@2'] });
    refused(answer, '/capabilities/1');
    expect(answer.body.detail).toContain('{"name": "work", "version": "2.1.0"}');
  });

  test('an endpoint holds no secrets: it is shown', async () => {
    for (const endpoint of ['http://u:hunter2@127.0.0.1:1/', 'http://127.0.0.1:1/?token=hunter2']) {
      const answer = await api.post('agent/register', { agent_id: 'a1', capabilities: ['work'], endpoint });
      refused(answer, '/endpoint');
      expect(JSON.stringify(answer.body)).not.toContain('hunter2');
    }
  });

  test('a parameter that a call does not take is refused, and the one that was meant is named', async () => {
    const task = 'tasks/01900000-0000-7000-8000-000000000000';
    for (const [path, query, hint] of [
      ['tasks', { stat: 'failed' }, 'did you mean state?'],
      ['agents', { capabilty: 'work' }, 'did you mean capability?'],
      ['attributions', { frobnicate: 1 }, 'which takes limit, cursor, '],
      ['attributions/summary', { groupby: 'code' }, 'did you mean group_by?'],
      ['route/work', { limits: 1 }, 'did you mean limit?'],
      ['events', { tpye: 'all' }, 'did you mean type?'],
      ['capabilities', { namespac: 'x' }, 'did you mean namespace?'],
      ['policies', { verbose: 1 }, 'which takes limit, cursor, namespace'],
      [task, { wait: 1 }, 'wait_ms'],
      [`${task}/explain`, { deep: 1 }, 'deep'],
    ] as const) {
      const answer = await api.get(path, query);
      const name = Object.keys(query).at(-1);
      refused(answer, `/${name}`);
      expect(answer.body.detail).toContain(hint);
    }
    // The namespace stands in the body.
    const lost = await api.call('POST', '/api/v1/tasks?namespace=mine', { capability: 'work' });
    refused(lost, '/namespace');
    expect(lost.body.detail).toContain('which takes none in the query');
    const removal = await api.call('DELETE', '/api/v1/policies/work?version=1');
    refused(removal, '/version');
    for (const path of ['/livez?x', '/metrics?x=1']) expect((await api.call('GET', path)).status).toBe(200);
  });

  test('bad frames of a session are answered, and end nothing but themselves', async () => {
    const session = await api.session('s1');
    for (const frame of [{}, { type: 'nope' }, { type: 'operations', ref: 1, operations: [] }]) {
      session.send(frame);
      const error = await session.frame('error', (f) => f.type === 'error');
      expect(error).toMatchObject({ problem: { code: 'REACH_VALIDATION_FAILED' }, fatal: false });
    }
    session.socket.send('not json');
    await session.frame('error', (f) => f.type === 'error');
    session.socket.send(Buffer.from([0xff, 0xfe]), { binary: true });
    await session.frame('error', (f) => f.type === 'error');
    expect((await session.heartbeat()).lease.state).toBe('online');
    await session.close();
  });
});
