import fc from 'fast-check';
import { Breaker, isPoison } from './breaker.js';
import { DEFAULT_POLICY } from './policy.js';

const POLICY = DEFAULT_POLICY.breaker;
const SLOTS = 10;

/** A breaker at a time of its own: each call takes a millisecond. */
class Clocked {
  readonly breaker = new Breaker(POLICY);
  nowMs = 1000;

  /** `+` succeeds, `-` fails. */
  calls(outcomes: string): this {
    for (const outcome of outcomes) {
      const startedMs = this.nowMs++;
      this.breaker.record({ startedMs, endedMs: this.nowMs, ok: outcome === '+' });
    }
    return this;
  }

  wait(ms: number): this {
    this.nowMs += ms;
    return this;
  }

  get phase(): string {
    return this.breaker.at(this.nowMs).phase;
  }

  get slots(): number {
    return this.breaker.slots(this.nowMs, SLOTS);
  }

  get throttled(): boolean {
    return this.breaker.isThrottled(this.nowMs);
  }
}

test.each([
  ['nothing', '', 'closed'],
  ['three running', '---', 'closed'],
  ['four running', '----', 'open'],
  ['four, with a success in between', '---+-', 'closed'],
  ['four running after many successes', `${'+'.repeat(100)}----`, 'open'],
  ['half of nine calls: too few for a share', '-+-+-+-+-', 'closed'],
  ['half of ten calls', '-+-+-+-+-+', 'open'],
  ['two of five, again and again: 40 %', '+++--'.repeat(40), 'closed'],
  ['41 of the last 100', `${'+'.repeat(200)}${'+++--'.repeat(19)}++---`, 'open'],
])('%s', (_what, outcomes, phase) => {
  expect(new Clocked().calls(outcomes).phase).toBe(phase);
});

test('open for 30 s, a few trials, a fifth of the slots for 30 s, then all of them', () => {
  const c = new Clocked().calls('----');
  expect([c.phase, c.slots, c.throttled]).toEqual(['open', 0, false]);
  expect(c.breaker.changesAtMs(c.nowMs, SLOTS)).toBe(c.nowMs + POLICY.openMs);
  c.wait(POLICY.openMs - 1);
  expect(c.slots).toBe(0);
  c.wait(1);
  expect([c.phase, c.slots, c.throttled]).toEqual(['half_open', 3, true]);
  c.calls('++');
  expect(c.phase).toBe('half_open');
  c.calls('+');
  expect([c.phase, c.slots, c.throttled]).toEqual(['recovering', 2, true]);
  expect(c.breaker.changesAtMs(c.nowMs, SLOTS)).toBe(c.nowMs + POLICY.recoveryMs);
  c.wait(POLICY.recoveryMs - 1);
  expect(c.phase).toBe('recovering');
  c.wait(1);
  expect([c.phase, c.slots, c.throttled]).toEqual(['closed', SLOTS, false]);
  expect(c.breaker.sinceSeriousFailureMs(c.nowMs)).toBe(POLICY.openMs + POLICY.recoveryMs + 3);
});

test('a trial that fails opens it for as long again', () => {
  const c = new Clocked().calls('----').wait(POLICY.openMs).calls('++-');
  expect(c.phase).toBe('open');
  expect(c.wait(POLICY.openMs - 1).phase).toBe('open');
  expect(c.wait(1).phase).toBe('half_open');
});

test('one that fails while it recovers is left alone again, by the same rules', () => {
  const c = new Clocked().calls('----').wait(POLICY.openMs).calls('+++');
  expect(c.calls('---').phase).toBe('recovering');
  expect(c.calls('-').phase).toBe('open');
});

test('what came before the outage does not count after it', () => {
  const c = new Clocked().calls('-+-+-+-+-+').wait(POLICY.openMs).calls('+++').wait(POLICY.recoveryMs);
  expect(c.calls('+--+--').phase).toBe('closed');
});

test('a call that began before the agent was back says nothing, well or badly', () => {
  for (const ok of [true, false]) {
    const c = new Clocked().calls('----');
    const startedMs = c.nowMs - 2;
    c.wait(POLICY.openMs);
    for (let i = 0; i < 10; i++) c.breaker.record({ startedMs, endedMs: c.nowMs, ok });
    expect(c.phase).toBe('half_open');
    c.calls('+++');
    for (let i = 0; i < 10; i++) c.breaker.record({ startedMs, endedMs: c.nowMs, ok });
    expect(c.phase).toBe('recovering');
  }
});

test('an agent with one slot works a fifth of the time while it recovers', () => {
  const breaker = new Breaker(POLICY);
  const run = (startedMs: number, ms: number, ok: boolean) => {
    breaker.record({ startedMs, endedMs: startedMs + ms, ok });
    return startedMs + ms;
  };
  let now = 0;
  for (let i = 0; i < 4; i++) now = run(now, 1, false);
  now += POLICY.openMs;
  for (let i = 0; i < 3; i++) now = run(now, 100, true);
  const beganMs = now;
  let busyMs = 0;
  // As under overload: the agent gets work the moment that it may have some.
  while (breaker.at(now).phase === 'recovering') {
    if (breaker.slots(now, 1) > 0) {
      now = run(now, 100, true);
      busyMs += 100;
      continue;
    }
    const next = breaker.changesAtMs(now, 1);
    if (next === undefined || next <= now) throw new Error('it rests, and says not until when');
    now = next;
  }
  expect(busyMs / (now - beganMs)).toBeCloseTo(POLICY.recoveryShare, 1);
});

test.each([
  [0, false],
  [1, false],
  [2, true],
])('a task that was tried on %i other agents', (elsewhere, poison) => {
  expect(isPoison(elsewhere)).toBe(poison);
});

test('an agent that was lost with all it held has failed once, and seriously; one that crashes again and again is left alone', () => {
  const c = new Clocked();
  const crash = () => {
    for (let i = 0; i < 20; i++) c.breaker.lost(c.wait(1).nowMs);
  };
  crash();
  expect(c.phase).toBe('closed');
  expect(c.breaker.sinceSeriousFailureMs(c.nowMs)).toBe(0);
  for (let times = 2; times <= 4; times++) {
    c.wait(10_000);
    crash();
    expect(c.phase).toBe(times === 4 ? 'open' : 'closed');
  }
});

test('it says why it is open, and for how long', () => {
  const why = (outcomes: string) => new Clocked().calls(outcomes).breaker.ejection(1000 + outcomes.length);
  expect(why('---')).toBeUndefined();
  expect(why('----')).toBe('4 calls running failed; it is tried again in 30 s');
  expect(why('-+-+-+-+-+')).toBe('5 of the last 10 calls failed; it is tried again in 30 s');
  const c = new Clocked()
    .calls('----')
    .wait(POLICY.openMs)
    .calls('-')
    .wait(POLICY.openMs - 1500);
  expect(c.breaker.ejection(c.nowMs)).toBe('a trial call failed; it is tried again in 2 s');
});

test('a policy that changes keeps the newest calls, and what it says holds from then on', () => {
  const breaker = new Breaker(POLICY);
  const record = (ok: boolean, window: number) =>
    breaker.record({ startedMs: 1, endedMs: 1, ok }, { ...POLICY, window, running: 100 });
  for (let i = 0; i < 50; i++) record(true, 100);
  for (let i = 0; i < 6; i++) record(false, 100);
  expect(breaker.at(1).phase).toBe('closed');
  // Of the last twelve, seven.
  record(false, 12);
  expect(breaker.ejection(1)).toMatch(/^7 of the last 12 calls failed/);
});

const step = fc.record({ waitMs: fc.nat(20_000), ranMs: fc.nat(40_000), ok: fc.boolean() });
const anyPolicy = fc.record({
  window: fc.integer({ min: 1, max: 150 }),
  errorShare: fc.double({ min: 0, max: 1, noNaN: true }),
  leastCalls: fc.integer({ min: 1, max: 150 }),
  running: fc.nat(10),
  openMs: fc.integer({ min: 1, max: 60_000 }),
  trials: fc.integer({ min: 1, max: 5 }),
  recoveryMs: fc.integer({ min: 1, max: 60_000 }),
  recoveryShare: fc.double({ min: 0.01, max: 1, noNaN: true }),
});

/** The way round: what may follow each phase, by a call or by time. */
const AFTER: Record<string, string[]> = {
  closed: ['closed', 'open'],
  open: ['open', 'half_open'],
  half_open: ['half_open', 'open', 'recovering'],
  recovering: ['recovering', 'open', 'closed'],
};

test('phases follow each other by the way round, slots stay within bounds, and each wait ends', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), anyPolicy, (steps, policy) => {
      const breaker = new Breaker(policy);
      let now = 0;
      let phase = 'closed';
      const see = () => {
        const next = breaker.at(now).phase;
        expect(AFTER[phase]).toContain(next);
        phase = next;
        const slots = breaker.slots(now, SLOTS);
        expect(slots).toBeGreaterThanOrEqual(0);
        expect(slots).toBeLessThanOrEqual(SLOTS);
        if (phase === 'closed') expect(slots).toBe(SLOTS);
        if (phase === 'open') expect(slots).toBe(0);
        // Never without a way on: it may have work, or will say something else by itself, later.
        if (slots === 0) expect(breaker.changesAtMs(now, SLOTS)).toBeGreaterThan(now);
      };
      for (const { waitMs, ranMs, ok } of steps) {
        for (const part of [waitMs / 2, waitMs / 2]) {
          now += part;
          see();
        }
        breaker.record({ startedMs: now - ranMs, endedMs: now, ok });
        see();
      }
    }),
  );
});

test('while it is closed, it opens with exactly the call that a plain list condemns', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 250 }), anyPolicy, (outcomes, policy) => {
      const breaker = new Breaker(policy);
      const seen: boolean[] = [];
      for (const [i, ok] of outcomes.entries()) {
        seen.push(ok);
        breaker.record({ startedMs: i, endedMs: i, ok });
        const last = seen.slice(-policy.window);
        const failed = last.filter((good) => !good).length;
        const running = seen.length - 1 - seen.lastIndexOf(true);
        const bad =
          running > policy.running ||
          (last.length >= Math.min(policy.leastCalls, policy.window) &&
            failed > last.length * policy.errorShare);
        expect(breaker.at(i).phase).toBe(bad ? 'open' : 'closed');
        if (bad) return;
      }
    }),
  );
});

test('policies that look at windows of other lengths in turn see the same calls', () => {
  const breaker = new Breaker(POLICY);
  const short = { ...POLICY, window: 10, running: 1000 };
  const long = { ...POLICY, window: 60, leastCalls: 60, running: 1000 };
  // Every other call fails: 50 %, which the long one sees once it has sixty.
  const calls = (count: number, policy: typeof POLICY) => {
    for (let i = 0; i < count; i++) breaker.record({ startedMs: i, endedMs: i + 1, ok: i % 2 === 1 }, policy);
  };
  const lenient = { ...short, errorShare: 0.9 };
  calls(10, long);
  calls(20, lenient);
  calls(20, lenient);
  expect(breaker.at(50).phase).toBe('closed');
  calls(9, long);
  expect(breaker.at(50).phase).toBe('closed');
  calls(1, long);
  expect(breaker.at(50)).toMatchObject({ phase: 'open', cause: '31 of the last 60 calls failed' });
});
