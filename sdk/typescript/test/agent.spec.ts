import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { Agent } from '../src/agent.js';
import { type AgentEvents, type AgentOptions } from '../src/agent-options.js';
import { AgentRefused, ReachApiError, ReachTimeoutError, TaskFailed } from '../src/errors.js';
import { type Logger } from '../src/logger.js';
import { counted, FakeCentre, gate } from './fake-centre.js';

const quiet: Logger = { debug: () => 0, info: () => 0, warn: () => 0, error: () => 0 };

let centre: FakeCentre;
const agents: Agent[] = [];

beforeEach(async () => {
  centre = await new FakeCentre().listen();
});
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.stop({ drainMs: 0 })));
  await centre.kill();
});

function agentWith(options: Partial<AgentOptions>): Agent {
  const agent = new Agent({ url: centre.url, agentId: 'agent-1', logger: quiet, ...options });
  agents.push(agent);
  return agent;
}

function next<K extends keyof AgentEvents>(agent: Agent, event: K): Promise<AgentEvents[K]> {
  return new Promise((resolve) => agent.once(event, resolve));
}

describe('working over a session', () => {
  it('registers, acknowledges, runs and completes', async () => {
    const agent = agentWith({ maxConcurrency: 2, tags: ['test'] });
    agent.handle('a.b', async (task, ctx) => {
      ctx.meta['tokens'] = 7;
      return { echo: task.payload as unknown, attempt: ctx.attempt };
    });
    await agent.start();
    const offer = centre.offer({ payload: { x: 1 } });
    await centre.until(() => centre.ops('complete').length === 1);

    expect(centre.frames[0]).toMatchObject({
      type: 'register',
      agent: { agent_id: 'agent-1', transport: 'session', max_concurrency: 2, tags: ['test'] },
    });
    expect(centre.operations).toEqual([
      { op: 'ack', delivery_id: offer.delivery_id },
      {
        op: 'complete',
        delivery_id: offer.delivery_id,
        outputs: { echo: { x: 1 }, attempt: 1 },
        meta: { tokens: 7 },
      },
    ]);
  });

  it('puts what is ready in one turn into one frame', async () => {
    const agent = agentWith({ maxConcurrency: 100, capabilities: { 'a.b': () => 1 } });
    await agent.start();
    centre.send({
      type: 'offers',
      deliveries: Array.from({ length: 50 }, (_, i) => ({
        delivery_id: `d.${i}`,
        task_id: `t${i}`,
        capability: 'a.b',
        execution_timeout_ms: 1000,
      })),
    });
    await centre.until(() => centre.ops('complete').length === 50);
    expect(centre.count('operations')).toBe(2);
  });

  it('does not start what the centre does not let it start', async () => {
    const handler = counted(() => undefined);
    const agent = agentWith({ capabilities: { 'a.b': handler.run } });
    centre.answerTo = (op) => ({
      delivery_id: op.delivery_id,
      execute: false,
      reason: 'REACH_DELIVERY_SUPERSEDED',
    });
    await agent.start();
    const dropped = next(agent, 'dropped');
    const offered = next(agent, 'offered');
    const offer = centre.offer();
    expect(await offered).toMatchObject({ offer: { delivery_id: offer.delivery_id } });
    expect(await dropped).toEqual({ deliveryId: offer.delivery_id, code: 'REACH_DELIVERY_SUPERSEDED' });
    expect(handler.calls).toBe(0);
    expect(agent.status().running).toBe(0);
  });

  it('acknowledges only as much as it can run at once', async () => {
    const gates = [gate(), gate()];
    let begun = 0;
    const agent = agentWith({ capabilities: { 'a.b': () => gates[begun++]?.promise } });
    await agent.start();
    centre.offer();
    centre.offer();
    await centre.until(() => centre.ops('ack').length === 1);
    gates[0]?.open();
    await centre.until(() => centre.ops('ack').length === 2);
    gates[1]?.open();
    await centre.until(() => centre.ops('complete').length === 2);
  });

  it.each([
    ['AgentRefused', new AgentRefused('too long'), { code: 'AGENT_REFUSED', message: 'too long' }],
    [
      'TaskFailed',
      new TaskFailed({
        code: 'DEPENDENCY_DOWN',
        message: 'db away',
        retryable: true,
        dependency: 'db',
        raw: { n: 1 },
      }),
      { code: 'DEPENDENCY_DOWN', message: 'db away', retryable: true, dependency: 'db', raw_error: { n: 1 } },
    ],
    [
      'any error',
      new RangeError('boom'),
      { code: 'AGENT_ERROR', message: 'boom', raw_error: { name: 'RangeError', message: 'boom' } },
    ],
    ['a text', 'boom', { code: 'AGENT_ERROR', message: 'boom', raw_error: 'boom' }],
  ])('maps %s to a failure', async (_name, thrown, expected) => {
    const agent = agentWith({
      capabilities: {
        'a.b': () => {
          // A handler may throw anything.
          // eslint-disable-next-line @typescript-eslint/only-throw-error
          throw thrown;
        },
      },
    });
    await agent.start();
    centre.offer();
    await centre.until(() => centre.ops('fail').length === 1);
    expect(centre.ops('fail')[0]).toMatchObject(expected);
  });

  it('refuses a capability it does not have, and fails a result that is not JSON', async () => {
    const agent = agentWith({
      maxConcurrency: 2,
      capabilities: { 'a.b': () => ({ big: 1n }), 'a.c': () => 1 },
    });
    await agent.start();
    centre.offer({ capability: 'x.y' });
    centre.offer();
    await centre.until(() => centre.ops('fail').length === 2);
    expect(centre.ops('fail')[0]).toMatchObject({ code: 'AGENT_REFUSED' });
    expect(centre.ops('fail')[1]).toMatchObject({ code: 'AGENT_ERROR', retryable: false });
  });

  it('extends its deadline, and hears of a cancel', async () => {
    const aborted = gate<string>();
    const extended = gate<Date>();
    const agent = agentWith({});
    agent.handle('a.b', async (_task, ctx) => {
      extended.open(await ctx.progress({ extendMs: 5000, note: 'half' }));
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
      aborted.open((ctx.signal.reason as { code: string }).code);
      throw new Error('stopped');
    });
    const deadline = '2030-01-01T00:00:00.000Z';
    const usual = centre.answerTo;
    centre.answerTo = (op) => (op.op === 'progress' ? { delivery_id: op.delivery_id, deadline } : usual(op));
    await agent.start();
    const offer = centre.offer();
    expect((await extended.promise).toISOString()).toBe(deadline);
    centre.send({
      type: 'stale',
      deliveries: [{ delivery_id: offer.delivery_id, reason: 'REACH_CANCELED' }],
    });
    expect(await aborted.promise).toBe('REACH_CANCELED');
    centre.offer();
    await centre.until(() => centre.ops('ack').length === 2);
    // The canceled work reported nothing.
    expect(centre.ops('fail')).toEqual([]);
  });

  it('reports the heartbeat with its capacity, and takes stale work and drain from the answer', async () => {
    centre.heartbeatIntervalMs = 30;
    const aborted = gate();
    const agent = agentWith({
      capabilities: {
        'a.b': (_task, ctx) =>
          new Promise((_, reject) =>
            ctx.signal.addEventListener('abort', () => {
              aborted.open();
              reject(new Error('x'));
            }),
          ),
      },
    });
    await agent.start();
    const offer = centre.offer();
    await centre.until(() => centre.frames.some((f) => f.type === 'heartbeat' && f.running?.length === 1));
    expect(centre.frames.findLast((f) => f.type === 'heartbeat')).toMatchObject({
      running: [offer.delivery_id],
      capacity: { in_flight: 1, pool_usage: 1, queued: 0, loop_delay_ms: expect.any(Number) as number },
    });
    const drained = next(agent, 'drain');
    centre.stale = [{ delivery_id: offer.delivery_id, reason: 'REACH_EXECUTION_TIMEOUT' }];
    centre.drain = true;
    await aborted.promise;
    await drained;
    centre.offer();
    await centre.until(() => centre.count('heartbeat') > 3);
    expect(centre.ops('ack')).toHaveLength(1);
  });
});

describe('when the connection breaks', () => {
  it('lets a handler that reports progress go on, and sends its last report when the centre is back', async () => {
    const away = gate();
    const told = gate<Date[]>();
    const back = gate();
    const agent = agentWith({});
    agent.handle('a.b', async (_task, ctx) => {
      const known = ctx.deadline;
      await away.promise;
      await ctx.progress({ extendMs: 5000, note: 'one' });
      told.open([known, await ctx.progress({ note: 'two' })]);
      await back.promise;
    });
    await agent.start();
    centre.offer();
    await centre.until(() => centre.ops('ack').length === 1);
    const disconnected = next(agent, 'disconnected');
    await centre.kill();
    await disconnected;
    away.open();
    const [known, deadline] = await told.promise;
    expect(deadline).toEqual(known);

    await centre.listen();
    await centre.until(() => centre.ops('progress').length === 1);
    expect(centre.ops('progress')[0]).toMatchObject({ extend_ms: 5000, note: 'two' });
    back.open();
    await centre.until(() => centre.ops('complete').length === 1);
    expect(centre.ops('progress')).toHaveLength(1);
  });

  it('sends a report again whose frame was lost, and none of work that has ended', async () => {
    const ended = gate();
    const agent = agentWith({ maxConcurrency: 2 });
    agent.handle('a.b', async (_task, ctx) => {
      await ctx.progress({ note: 'goes on' });
      await ended.promise;
    });
    agent.handle('a.c', async (_task, ctx) => {
      await ctx.progress({ note: 'ends' });
    });
    centre.silent = (frame) => frame.operations?.some((op) => op.op === 'progress') ?? false;
    await agent.start();
    centre.offer();
    centre.offer({ capability: 'a.c' });
    const sent = () => centre.frames.flatMap((f) => f.operations ?? []).filter((op) => op.op === 'progress');
    await centre.until(() => sent().length === 2);
    const disconnected = next(agent, 'disconnected');
    await centre.kill();
    await disconnected;
    centre.silent = () => false;
    await centre.listen();
    await centre.until(() => centre.ops('complete').length === 1 && centre.ops('progress').length === 1);
    expect(centre.ops('progress')[0]).toMatchObject({ note: 'goes on' });
    ended.open();
    await centre.until(() => centre.ops('complete').length === 2);
    expect(centre.ops('progress')).toHaveLength(1);
  });

  it('waits for the answer to progress only so long', async () => {
    const agent = agentWith({ answerTimeoutMs: 50 });
    agent.handle('a.b', async (_task, ctx) => (await ctx.progress()) !== undefined);
    const usual = centre.answerTo;
    centre.answerTo = (op) =>
      op.op === 'progress'
        ? { delivery_id: op.delivery_id, error: { code: 'REACH_UNAVAILABLE', detail: 'later' } }
        : usual(op);
    await agent.start();
    centre.offer();
    await centre.until(() => centre.ops('complete').length === 1);
    expect(centre.ops('complete')[0]).toMatchObject({ outputs: true });
  });

  it('keeps the work, resumes the lease and reports the result', async () => {
    const work = gate<string>();
    const agent = agentWith({ capabilities: { 'a.b': () => work.promise } });
    await agent.start();
    const offer = centre.offer();
    await centre.until(() => centre.ops('ack').length === 1);
    const disconnected = next(agent, 'disconnected');
    await centre.kill();
    await disconnected;
    work.open('done while alone');
    const connected = next(agent, 'connected');
    await centre.listen();
    expect(await connected).toMatchObject({ resumed: true });
    await centre.until(() => centre.ops('complete').length === 1);
    expect(centre.frames.find((f) => f.type === 'resume')).toMatchObject({
      lease_id: centre.lease,
      running: [offer.delivery_id],
    });
    expect(centre.ops('complete')[0]).toMatchObject({ outputs: 'done while alone' });
  });

  it('asks an ACK again whose answer got lost, and runs the work once', async () => {
    const handler = counted(() => 'ok');
    const agent = agentWith({ capabilities: { 'a.b': handler.run } });
    let lost = 0;
    centre.silent = (frame) => frame.type === 'operations' && lost++ === 0;
    await agent.start();
    const offer = centre.offer();
    await centre.until(() => lost === 1);
    for (const socket of centre.sockets) socket.terminate();
    await centre.until(() => centre.ops('complete').length === 1);
    centre.send({ type: 'offers', deliveries: [offer] });
    centre.offer();
    await centre.until(() => centre.ops('complete').length === 2);
    expect(handler.calls).toBe(2);
  });

  it('reports a result again whose answer got lost', async () => {
    const agent = agentWith({ capabilities: { 'a.b': () => 'ok' } });
    let results = 0;
    centre.silent = (frame) => frame.operations?.[0]?.op === 'complete' && results++ === 0;
    await agent.start();
    centre.offer();
    await centre.until(() => results === 1);
    for (const socket of centre.sockets) socket.terminate();
    await centre.until(() => results === 2 && centre.ops('complete').length === 1);
    await agent.stop({ drainMs: 5000 });
    expect(agent.status().unreported).toBe(0);
  });

  it('answers a lost task with the kept outcome instead of running it again', async () => {
    const handler = counted(() => 'ok');
    const agent = agentWith({ capabilities: { 'a.b': handler.run } });
    const usual = centre.answerTo;
    centre.answerTo = (op) =>
      op.op === 'complete' && op.delivery_id.endsWith('.1')
        ? { delivery_id: op.delivery_id, error: { code: 'REACH_DELIVERY_SUPERSEDED', detail: 'late' } }
        : usual(op);
    await agent.start();
    const dropped = next(agent, 'dropped');
    const first = centre.offer();
    await dropped;
    centre.offer({ task_id: first.task_id, fence: 2 });
    await centre.until(() => centre.ops('complete').length === 2);
    expect(centre.ops('complete')[1]).toMatchObject({ delivery_id: `${first.task_id}.2`, outputs: 'ok' });
    expect(handler.calls).toBe(1);
  });

  it('tries a result again after "not now"', async () => {
    const agent = agentWith({ capabilities: { 'a.b': () => 'ok' } });
    const usual = centre.answerTo;
    let refusals = 0;
    centre.answerTo = (op) =>
      op.op === 'complete' && refusals++ === 0
        ? { delivery_id: op.delivery_id, error: { code: 'REACH_UNAVAILABLE', detail: 'busy' } }
        : usual(op);
    await agent.start();
    centre.offer();
    await centre.until(() => centre.ops('complete').length === 2);
  });

  it('keeps its lease when a delivery of an earlier lease is refused', async () => {
    const agent = agentWith({ capabilities: { 'a.b': () => 1 } });
    centre.answerTo = (op) => ({
      delivery_id: op.delivery_id,
      error: { code: 'REACH_LEASE_SUPERSEDED', detail: 'of another lease' },
    });
    await agent.start();
    const dropped = next(agent, 'dropped');
    centre.offer();
    await dropped;
    expect(agent.status().connected).toBe(true);
  });

  it.each([
    ['by its ref', true],
    ['without saying which', false],
  ])('isolates a result that the centre refuses as a whole frame, %s', async (_how, withRef) => {
    centre.refusesByRef = withRef;
    const agent = agentWith({ maxConcurrency: 2, capabilities: { 'a.b': (task) => task.payload as string } });
    centre.problemFor = (frame) =>
      frame.operations?.some((o) => o.outputs === 'bad')
        ? { code: 'REACH_VALIDATION_FAILED', detail: 'bad', retryable: false }
        : undefined;
    await agent.start();
    const bad = { payload: 'bad', fence: 1 };
    centre.offer(bad);
    centre.offer({ payload: 'good' });
    await centre.until(() => centre.ops('complete').length === 1 && centre.ops('fail').length === 1);
    expect(centre.ops('complete')[0]).toMatchObject({ outputs: 'good' });
    expect(centre.ops('fail')[0]).toMatchObject({ code: 'AGENT_ERROR', retryable: false });
  });

  it('aborts stale work and registers anew when the lease has expired', async () => {
    const aborted = gate<string>();
    const agent = agentWith({});
    agent.handle(
      'a.b',
      (_task, ctx) =>
        new Promise((resolve) => {
          ctx.signal.addEventListener('abort', () => {
            aborted.open((ctx.signal.reason as { code: string }).code);
            resolve(undefined);
          });
        }),
    );
    await agent.start();
    centre.offer();
    await centre.until(() => centre.ops('ack').length === 1);
    centre.problemFor = (frame) =>
      frame.type === 'resume' ? { code: 'REACH_LEASE_EXPIRED', detail: 'gone', retryable: false } : undefined;
    const lost = next(agent, 'lease_lost');
    for (const socket of centre.sockets) socket.terminate();
    await lost;
    expect(await aborted.promise).toBe('REACH_LEASE_EXPIRED');
    await centre.until(() => centre.count('register') === 2);
  });

  it('stops for good when a newer process took over', async () => {
    centre.heartbeatIntervalMs = 20;
    const agent = agentWith({ capabilities: { 'a.b': () => 1 } });
    centre.problemFor = (frame) =>
      frame.type === 'heartbeat'
        ? { code: 'REACH_LEASE_SUPERSEDED', detail: 'newer', retryable: false }
        : undefined;
    const superseded = next(agent, 'superseded');
    expect(await agent.run({ signals: false })).toBe('superseded');
    await superseded;
    await centre.until(() => centre.sockets.length === 0);
    expect(centre.count('register')).toBe(1);
  });

  it('stops, and fights for nothing, when another process took over before it could register anew', async () => {
    const agent = agentWith({ capabilities: { 'a.b': () => 1 } });
    const stopped = agent.run({ signals: false });
    await next(agent, 'connected');
    const before = centre.lease;
    centre.problemFor = (frame) => {
      if (frame.type === 'resume') return { code: 'REACH_LEASE_EXPIRED', detail: 'gone', retryable: false };
      if (frame.type === 'register')
        return { code: 'REACH_LEASE_SUPERSEDED', detail: 'another is there', retryable: false };
      return undefined;
    };
    for (const socket of centre.sockets) socket.terminate();
    expect(await stopped).toBe('superseded');
    const registrations = centre.frames.filter((f) => f.type === 'register').map((f) => f.agent);
    expect(registrations).toHaveLength(2);
    expect(registrations[0]).not.toHaveProperty('replaces_lease_id');
    expect(registrations[1]).toMatchObject({ replaces_lease_id: before });
  });

  it('names the same new lease until its registration is answered', async () => {
    const agent = agentWith({ answerTimeoutMs: 100, capabilities: { 'a.b': () => 1 } });
    centre.silent = (frame) => frame.type === 'register' && centre.count('register') < 1;
    await agent.start();
    const [lost, answered] = centre.frames.filter((f) => f.type === 'register').map((f) => f.agent?.lease_id);
    expect(lost).toMatch(/^[0-9a-f-]{36}$/);
    expect(answered).toBe(lost);
    expect(agent.status().leaseId).toBe(lost);
  });

  it('stays away after a drain when the lease has ended', async () => {
    centre.heartbeatIntervalMs = 20;
    centre.drain = true;
    const agent = agentWith({ capabilities: { 'a.b': () => 1 } });
    let beats = 0;
    centre.problemFor = (frame) =>
      frame.type === 'heartbeat' && beats++ > 0
        ? { code: 'REACH_LEASE_EXPIRED', detail: 'removed', retryable: false }
        : undefined;
    expect(await agent.run({ signals: false })).toBe('drained');
    expect(centre.count('register')).toBe(1);
  });

  it('closes a session that no longer answers', async () => {
    centre.heartbeatIntervalMs = 20;
    const agent = agentWith({ answerTimeoutMs: 100, capabilities: { 'a.b': () => 1 } });
    await agent.start();
    centre.silent = (frame) => frame.type === 'heartbeat';
    const { reason } = await next(agent, 'disconnected');
    expect(reason).toContain('no answer');
    await centre.until(() => centre.count('resume') === 1);
  });
});

describe('starting and stopping', () => {
  it('waits for a centre that is not up yet', async () => {
    await centre.kill();
    const agent = agentWith({ capabilities: { 'a.b': () => 1 } });
    const started = agent.start();
    await centre.listen();
    await started;
    expect(agent.status().connected).toBe(true);
  });

  it('gives up at startTimeoutMs', async () => {
    await centre.kill();
    const agent = agentWith({ capabilities: { 'a.b': () => 1 } });
    await expect(agent.start({ startTimeoutMs: 50 })).rejects.toThrow(ReachTimeoutError);
    await centre.listen();
  });

  it('rejects at once when the registration is refused', async () => {
    centre.problemFor = () => ({ code: 'REACH_VALIDATION_FAILED', detail: 'no', retryable: false });
    const agent = agentWith({ capabilities: { 'a.b': () => 1 } });
    await expect(agent.start()).rejects.toThrow(ReachApiError);
  });

  it('says goodbye, finishes what runs, and takes nothing new', async () => {
    const work = gate<string>();
    const agent = agentWith({ maxConcurrency: 5, capabilities: { 'a.b': () => work.promise } });
    await agent.start();
    centre.offer();
    await centre.until(() => centre.ops('ack').length === 1);
    const stopped = agent.stop({ drainMs: 5000 });
    await centre.until(() => centre.count('deregister') === 1);
    centre.offer();
    work.open('last');
    await stopped;
    expect(centre.ops('complete')).toHaveLength(1);
    expect(centre.ops('ack')).toHaveLength(1);
  });

  it('aborts what does not finish in the drain time', async () => {
    const code = gate<string>();
    const agent = agentWith({});
    agent.handle(
      'a.b',
      (_t, ctx) =>
        new Promise((_, reject) => {
          ctx.signal.addEventListener('abort', () => {
            code.open((ctx.signal.reason as { code: string }).code);
            reject(new Error('aborted'));
          });
        }),
    );
    await agent.start();
    centre.offer();
    await centre.until(() => centre.ops('ack').length === 1);
    await agent.stop({ drainMs: 20 });
    expect(await code.promise).toBe('DRAIN_DEADLINE');
    expect(centre.ops('fail')).toEqual([]);
  });
});

describe('other transports', () => {
  it('falls back to polling where the WebSocket does not get through', async () => {
    centre.sessions = false;
    const agent = agentWith({
      maxConcurrency: 3,
      capabilities: { 'a.b': (task) => task.payload as unknown },
    });
    await agent.start();
    centre.offer({ payload: 5 });
    await centre.until(() => centre.ops('complete').length === 1);
    expect(centre.frames[0]).toMatchObject({ agent: { transport: 'pull' } });
    expect(centre.ops('complete')[0]).toMatchObject({ outputs: 5 });
  });

  it.each(['REACH_STATE_CONFLICT', 'REACH_DELIVERY_SUPERSEDED'])(
    'goes on with a push whose ACK is not noted yet: %s',
    async (code) => {
      const agent = agentWith({ transport: 'push', endpoint: 'http://127.0.0.1:1/x' });
      agent.handle('a.b', async (_task, ctx) => {
        await ctx.progress();
        return ctx.signal.aborted;
      });
      centre.answerTo = (op) =>
        op.op === 'progress'
          ? { delivery_id: op.delivery_id, error: { code, detail: 'not acknowledged' } }
          : { delivery_id: op.delivery_id };
      const server = createServer(agent.pushHandler());
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      await agent.start();
      const body = JSON.stringify({ ...centre.offer(), lease_id: centre.lease });
      await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { method: 'POST', body });
      await centre.until(() => centre.ops('complete').length === 1);
      expect(centre.ops('complete')[0]).toMatchObject({ outputs: false });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  );

  it('takes pushes, once each, and refuses when full', async () => {
    const work = gate<string>();
    const handler = counted(() => work.promise);
    const agent = agentWith({
      transport: 'push',
      endpoint: 'http://127.0.0.1:1/x',
      capabilities: { 'a.b': handler.run },
    });
    const server = createServer(agent.pushHandler());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const push = async (body: object) => {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
      return [response.status, await response.json()];
    };
    await agent.start();
    const offer = { ...centre.offer({ payload: 1 }), lease_id: centre.lease };
    expect(await push(offer)).toEqual([200, { ack: true }]);
    expect(await push(offer)).toEqual([200, { ack: true }]);
    expect(await push({ ...centre.offer(), lease_id: centre.lease })).toEqual([
      429,
      expect.objectContaining({ ack: false }),
    ]);
    expect(await push({ ...centre.offer(), lease_id: 'old' })).toEqual([
      409,
      expect.objectContaining({ ack: false }),
    ]);
    expect((await push({}))[0]).toBe(400);
    work.open('pushed');
    await centre.until(() => centre.ops('complete').length === 1);
    expect(handler.calls).toBe(1);
    expect(centre.ops('ack')).toEqual([]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});
