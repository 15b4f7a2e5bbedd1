import fc from 'fast-check';
import { reachScore } from './score.js';
import { SlidingWindow, type WindowView } from './sliding-window.js';

const TARGET_MS = 100;
const view = (over: Partial<WindowView> = {}): WindowView => ({
  samples: 10,
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
])('%s', (_name, over, score) => {
  expect(reachScore(view(over), TARGET_MS)).toBeCloseTo(score, 6);
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
        run(30, true);
        expect(reachScore(w.read(now), TARGET_MS)).toBeGreaterThan(0.9);
      },
    ),
    { numRuns: 200 },
  );
});
