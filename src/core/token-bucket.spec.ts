import fc from 'fast-check';
import { type BucketLevel, type BucketRule, takeTokens } from './token-bucket.js';

/** A bucket that is asked at times of its own. */
function bucket(rule: BucketRule) {
  let level: BucketLevel | undefined;
  return (wanted: number, nowMs: number) => {
    const { level: next, ...grant } = takeTokens(level, wanted, rule, nowMs);
    level = next;
    return grant;
  };
}

test('a burst, and then the rate', () => {
  const take = bucket({ capacity: 3, perSecond: 2 });
  const granted = [0, 499, 500, 1500, 60_000].map((atMs) => take(5, atMs).granted);
  expect(granted).toEqual([3, 0, 1, 2, 3]);
});

test('what is missing is owed, as far as that goes, and paid back before anything is given', () => {
  const take = bucket({ capacity: 2, perSecond: 1, overdraft: 5 });
  expect(take(4, 0)).toEqual({ granted: 2, owed: 2 });
  expect(take(10, 0)).toEqual({ granted: 0, owed: 5 });
  expect(take(1, 0)).toEqual({ granted: 0, owed: 5 });
  expect(take(0, 4500)).toEqual({ granted: 0, owed: 1 });
  expect(take(1, 6000)).toEqual({ granted: 1, owed: 0 });
});

test('over any time it gives at most the burst and what the rate allows, and no less when asked all the time', () => {
  const waits = fc.array(fc.nat(3000), { minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 50 }),
      waits,
      (capacity, perSecond, steps) => {
        const take = bucket({ capacity, perSecond });
        let now = 0;
        let given = 0;
        for (const waitMs of steps) {
          now += waitMs;
          given += take(100, now).granted;
        }
        // It is full at first, so time counts from the first call.
        const most = capacity + ((now - (steps[0] ?? 0)) * perSecond) / 1000;
        expect(given).toBeLessThanOrEqual(most + 1e-6);
        const neverFull = steps.slice(1).every((ms) => (ms * perSecond) / 1000 <= capacity - 1);
        if (neverFull) expect(given).toBeGreaterThan(most - 1 - 1e-6);
      },
    ),
  );
});
