import fc from 'fast-check';
import { retryDelayMs, spreadMs } from './backoff.js';

const policy = { baseMs: 1000, jitter: 0.05, capMs: 60_000 };
const middle = (): number => 0.5;

test.each([
  [1, 1000],
  [2, 2000],
  [3, 4000],
  [7, 60_000],
  [1000, 60_000],
  [0, 1000],
])('retry %i waits %i ms without jitter', (retry, ms) => {
  expect(retryDelayMs(retry, policy, middle)).toBe(ms);
});

test('jitter stays within its share, on both sides', () => {
  const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), unit, (retry, u) => {
      const plain = retryDelayMs(retry, policy, middle);
      const ms = retryDelayMs(retry, policy, () => u);
      expect(ms).toBeGreaterThanOrEqual(Math.floor(plain * 0.95));
      expect(ms).toBeLessThanOrEqual(Math.ceil(plain * 1.05));
    }),
  );
  expect(retryDelayMs(1, policy, () => 0)).toBeLessThan(retryDelayMs(1, policy, () => 0.99));
});

test('a spread pause lies between its bounds', () => {
  expect(spreadMs(10, 20, () => 0)).toBe(10);
  expect(spreadMs(10, 20, () => 0.999)).toBe(20);
});
