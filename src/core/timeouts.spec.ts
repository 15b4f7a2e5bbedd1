import fc from 'fast-check';
import { LEAST_CALLS, timeoutOf, type TimeoutRule, timeoutWords } from './timeouts.js';

const RULE: TimeoutRule = { factor: 1.5, minMs: 10_000, maxMs: 3_600_000, unknownMs: 60_000 };

test.each([
  // 8.3 s x 1.5 = 12.45 s
  [{ p95Ms: 8300, calls: 214 }, 12_450, '12.4 s: 1.5 x P95 of 8.3 s over 214 calls'],
  // 0.2 s x 1.5 = 0.3 s, below the least
  [{ p95Ms: 200, calls: 20 }, 10_000, '10 s: at least, as 1.5 x P95 of 0.2 s over 20 calls'],
  // 50 min x 1.5 = 75 min, above the most
  [{ p95Ms: 3_000_000, calls: 90 }, 3_600_000, '3600 s: at most, as 1.5 x P95 of 3000 s over 90 calls'],
])('%j: %d ms', (taken, ms, words) => {
  const timeout = timeoutOf(RULE, taken);
  expect(timeout.ms).toBe(ms);
  expect(timeoutWords(timeout)).toBe(words);
});

test('too few calls measure nothing, and a fixed one is never measured', () => {
  expect(timeoutOf(RULE, { p95Ms: 8300, calls: LEAST_CALLS - 1 })).toEqual({ ms: 60_000 });
  expect(timeoutOf(RULE, { p95Ms: undefined, calls: 0 })).toEqual({ ms: 60_000 });
  expect(timeoutOf({ fixedMs: 500 }, { p95Ms: 8300, calls: 1000 })).toEqual({ ms: 500 });
  expect(timeoutWords({ ms: 500 })).toBe('0.5 s');
});

test('it is whole, and within its bounds', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e12, noNaN: true }),
      fc.double({ min: 1, max: 100, noNaN: true }),
      fc.integer({ min: 50, max: 604_800_000 }),
      fc.integer({ min: 0, max: 604_800_000 }),
      (p95Ms, factor, minMs, more) => {
        const rule = { factor, minMs, maxMs: minMs + more, unknownMs: 1 };
        const { ms } = timeoutOf(rule, { p95Ms, calls: 1000 });
        expect(Number.isInteger(ms) && ms >= minMs && ms <= rule.maxMs).toBe(true);
      },
    ),
  );
});

test('what only rounding sets apart from the figure that is shown is not called a bound', () => {
  const timeout = timeoutOf(
    { factor: 1.5, minMs: 0, maxMs: 1e9, unknownMs: 1 },
    { p95Ms: 8300.6, calls: 200 },
  );
  expect(timeoutWords(timeout)).toBe('12.5 s: 1.5 x P95 of 8.3 s over 200 calls');
});
