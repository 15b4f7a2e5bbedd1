import fc from 'fast-check';
import { DEFAULT_POLICY, type Policy, type ScoreWeights } from './policy.js';
import { reachScore, scoreOf, type ScoreInput } from './score.js';
import { SlidingWindow, type WindowView } from './sliding-window.js';

const TARGET_MS = 100;
const view = (over: Partial<WindowView> = {}): WindowView => ({
  samples: 10,
  succeeded: 10,
  successRate: 1,
  p50Ms: 0,
  p95Ms: 0,
  consecutiveFailures: 0,
  lastActivityMs: 0,
  silent: false,
  ...over,
});

test.each<[string, Partial<WindowView>, number]>([
  ['everything well', {}, 1],
  ['half of them fail', { successRate: 0.5 }, 0.8],
  ['at the target', { p95Ms: TARGET_MS }, 0.85],
  ['a little past the target', { p95Ms: TARGET_MS + 1e-9 }, 0.7],
  ['twice the target', { p95Ms: 2 * TARGET_MS }, 0.4],
  ['one failure running', { consecutiveFailures: 1 }, 1 - 0.2 / 3],
  ['ten failures running', { consecutiveFailures: 10 }, 0.8],
  ['silent', { silent: true }, 0.9],
  ['nothing known', { samples: 0, successRate: undefined, p95Ms: undefined, silent: true }, 0.55],
])('a window: %s', (_name, over, score) => {
  expect(reachScore(view(over), TARGET_MS)).toBeCloseTo(score, 6);
});

const policy = (score: Policy['score'], targetLatencyMs = TARGET_MS): Policy => ({
  ...DEFAULT_POLICY,
  score,
  targetLatencyMs,
});
const agent = (over: Partial<ScoreInput> = {}): ScoreInput => ({
  agentId: 'a',
  successRate: 1,
  p50Ms: 0,
  p95Ms: 0,
  consecutiveFailures: 0,
  idleMs: 0,
  inFlight: 0,
  maxConcurrency: 4,
  weight: 100,
  ...over,
});
const UNKNOWN = { successRate: undefined, p50Ms: undefined, p95Ms: undefined, idleMs: undefined };

/** Each figure was worked out by hand: weight x measure for each part, and their sum. */
describe('worked examples', () => {
  test.each<[string, Partial<ScoreInput>, number, Record<string, number>]>([
    // 0.4 x 0.9 + 0.3 x (1 - 50/200) + 0.2 x 1 + 0.1 x 1
    [
      'nine of ten, well below the target',
      { successRate: 0.9, p95Ms: 50 },
      0.885,
      { success: 0.36, latency: 0.225, failures: 0.2, activity: 0.1 },
    ],
    // past the target: 0.6 x (1 - 150/200); the rest x 0.4/0.7: 0.36, 0.2 x 1/3, 0
    [
      'late, two failures running, silent',
      { successRate: 0.9, p95Ms: 150, consecutiveFailures: 2, idleMs: 30_001 },
      0.39381,
      { success: 0.205714, latency: 0.15, failures: 0.038095, activity: 0 },
    ],
    // the middle of each, but for failures: 0.4 x 0.5 + 0.3 x 0.5 + 0.2 + 0.1 x 0.5
    ['nothing known', UNKNOWN, 0.6, { success: 0.2, latency: 0.15, failures: 0.2, activity: 0.05 }],
  ])('reach: %s', (_what, over, total, parts) => {
    expectScore(agent(over), policy({ preset: 'reach' }), total, parts);
  });

  test('reach: a P95 that jumps from 120 to 600 ms demotes at once, though 99 % succeed', () => {
    const target200 = policy({ preset: 'reach' }, 200);
    const of = (p95Ms: number) => scoreOf(agent({ successRate: 0.99, p95Ms }), target200).total;
    expect(of(120)).toBeCloseTo(0.906, 6); // 0.396 + 0.3 x (1 - 120/400) + 0.2 + 0.1
    expect(of(600)).toBeCloseTo(0.397714, 6); // 0.6 x 0 + 0.4/0.7 x (0.396 + 0.2 + 0.1)
  });

  test.each<[string, Partial<ScoreInput>, number, Record<string, number>]>([
    // 0.6 x 0.8 + 0.3 x (1 - 50/200) + 0.1 x (1 - 3/4)
    [
      'one slot of four is free',
      { successRate: 0.8, p95Ms: 50, inFlight: 3 },
      0.73,
      { success: 0.48, latency: 0.225, capacity: 0.025 },
    ],
    // latency counts for nothing from twice the target on
    ['slow', { p95Ms: 400 }, 0.7, { success: 0.6, latency: 0, capacity: 0.1 }],
    ['nothing known', UNKNOWN, 0.55, { success: 0.3, latency: 0.15, capacity: 0.1 }],
  ])('dispatch: %s', (_what, over, total, parts) => {
    expectScore(agent(over), policy({ preset: 'dispatch' }), total, parts);
  });

  test.each<[string, Partial<ScoreInput>, number, Record<string, number>]>([
    // 50 x 0.9 = 45; P95 50 + jitter (50 - 20) = 80: 30 x (1 - 80/200) = 18; 20 x 3/4 = 15; the newest: 5
    [
      'jitter costs, the newest version gains',
      { successRate: 0.9, p50Ms: 20, p95Ms: 50, inFlight: 1, versionRank: 1 },
      0.83,
      { success: 0.45, latency: 0.18, load: 0.15, version: 0.05 },
    ],
    // 45; 30 x (1 - 50/200) = 22.5; 15; the oldest: -5
    [
      'said to have no jitter, the oldest version',
      { successRate: 0.9, p50Ms: 20, p95Ms: 50, jitterMs: 0, inFlight: 1, versionRank: -1 },
      0.775,
      { success: 0.45, latency: 0.225, load: 0.15, version: -0.05 },
    ],
    // P50 says that it is fast; P95 100 + jitter 99: 30 x (1 - 199/200) = 0.15
    [
      'a good mean helps nobody',
      { p50Ms: 1, p95Ms: 100 },
      0.7015,
      { success: 0.5, latency: 0.0015, load: 0.2, version: 0 },
    ],
    ['nothing known', UNKNOWN, 0.6, { success: 0.25, latency: 0.15, load: 0.2, version: 0 }],
  ])('connect: %s', (_what, over, total, parts) => {
    expectScore(agent(over), policy({ preset: 'connect' }), total, parts);
  });

  test('own weights: their proportion counts', () => {
    // of 5: 3/5 x 0.5 + 1/5 x (1 - 100/200) + 1/5 x 2/4
    const weights = { success: 3, latency: 1, failures: 0, activity: 0, capacity: 1 };
    const of = agent({ successRate: 0.5, p95Ms: 100, inFlight: 2 });
    const parts = { success: 0.3, latency: 0.1, failures: 0, activity: 0, capacity: 0.1 };
    expectScore(of, policy({ weights }), 0.5, parts);
  });

  test('soon after a serious failure half of the score is left, and the parts say so', () => {
    const { recoveryMs } = DEFAULT_POLICY.breaker;
    const of = (over: Partial<ScoreInput>) => scoreOf(agent(over), policy({ preset: 'reach' }));
    const recent = of({ sinceSeriousFailureMs: recoveryMs - 1 });
    expect(recent.total).toBeCloseTo(0.5, 6);
    expect(recent.parts['unsteady']).toBeCloseTo(-0.5, 6);
    expect(of({ sinceSeriousFailureMs: recoveryMs }).total).toBeCloseTo(1, 6);
    // What is throttled is held back already.
    expect(of({ sinceSeriousFailureMs: 0, throttled: true }).total).toBeCloseTo(1, 6);
  });

  function expectScore(input: ScoreInput, by: Policy, total: number, parts: Record<string, number>): void {
    const score = scoreOf(input, by);
    expect(score.total).toBeCloseTo(total, 6);
    expect(Object.keys(score.parts)).toEqual(Object.keys(parts));
    for (const [name, value] of Object.entries(parts)) expect(score.parts[name]).toBeCloseTo(value, 6);
  }
});

const share = fc.double({ min: 0, max: 1, noNaN: true });
const ms = fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: undefined });
const anyInput: fc.Arbitrary<ScoreInput> = fc.record({
  agentId: fc.constant('a'),
  successRate: fc.option(share, { nil: undefined }),
  p50Ms: ms,
  p95Ms: ms,
  jitterMs: ms,
  consecutiveFailures: fc.nat(1000),
  idleMs: ms,
  inFlight: fc.nat(2000),
  maxConcurrency: fc.integer({ min: 1, max: 1000 }),
  weight: fc.nat(1000),
  versionRank: fc.option(fc.double({ min: -1, max: 1, noNaN: true }), { nil: undefined }),
  sinceSeriousFailureMs: ms,
  throttled: fc.boolean(),
});
const anyWeights: fc.Arbitrary<ScoreWeights> = fc
  .tuple(share, share, share, share, share)
  .map(([success, latency, failures, activity, capacity]) => ({
    success,
    latency,
    failures,
    activity,
    capacity,
  }));
const anyScore: fc.Arbitrary<Policy['score']> = fc.oneof(
  fc.constantFrom('reach', 'dispatch', 'connect').map((preset) => ({ preset })),
  anyWeights.map((weights) => ({ weights })),
);

test('whatever goes in, a score is from 0 to 1.05 and its parts sum to it', () => {
  fc.assert(
    fc.property(anyInput, anyScore, (input, score) => {
      const { total, parts } = scoreOf(input, policy(score));
      expect(total).toBeGreaterThanOrEqual(0);
      expect(total).toBeLessThanOrEqual(1.05 + 1e-9);
      const sum = Object.values(parts).reduce((a, b) => a + b, 0);
      expect(Math.abs(Math.max(0, sum) - total)).toBeLessThan(1e-9);
    }),
  );
});

test('failing more, or slower, never raises a score', () => {
  fc.assert(
    fc.property(
      anyInput,
      anyScore,
      share,
      fc.double({ min: 1, max: 1e5, noNaN: true }),
      (input, score, less, more) => {
        const known = { ...input, successRate: input.successRate ?? 1, p95Ms: input.p95Ms ?? 1, jitterMs: 0 };
        const of = (over: Partial<ScoreInput>) => scoreOf({ ...known, ...over }, policy(score)).total;
        const was = of({}) + 1e-9;
        expect(of({ successRate: known.successRate * less })).toBeLessThanOrEqual(was);
        expect(of({ p95Ms: known.p95Ms + more })).toBeLessThanOrEqual(was);
        expect(of({ consecutiveFailures: known.consecutiveFailures + 1 })).toBeLessThanOrEqual(was);
      },
    ),
  );
});

test('an agent that recovers regains a high score within 30 s, however long it was down, and not at once', () => {
  fc.assert(
    fc.property(
      fc.record({
        everyMs: fc.integer({ min: 100, max: 4_000 }),
        downS: fc.integer({ min: 20, max: 3_600 }),
        beforeS: fc.integer({ min: 0, max: 1_200 }),
        startMs: fc.integer({ min: 0, max: 1e9 }),
      }),
      ({ everyMs, downS, beforeS, startMs }) => {
        const w = new SlidingWindow();
        let now = startMs;
        const run = (seconds: number, ok: boolean) => {
          for (const end = now + seconds * 1000; now < end; now += everyMs)
            w.record(now, ok ? { ok, latencyMs: 10 } : { ok });
        };
        run(beforeS, true);
        run(downS, false);
        expect(reachScore(w.read(now), TARGET_MS)).toBeLessThan(0.75);
        run(everyMs / 1000, true);
        // One good answer proves little after an outage that was longer than what was well before it.
        if (downS > beforeS) expect(reachScore(w.read(now), TARGET_MS)).toBeLessThan(0.9);
        run(30 - everyMs / 1000, true);
        expect(reachScore(w.read(now), TARGET_MS)).toBeGreaterThan(0.9);
      },
    ),
    { numRuns: 200 },
  );
});
