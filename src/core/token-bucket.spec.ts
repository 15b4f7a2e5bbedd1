import fc from 'fast-check';
import { TokenBucket } from './token-bucket.js';

test('a burst, and then the rate', () => {
  const bucket = new TokenBucket(3, 2);
  const taken = (atMs: number) => Array.from({ length: 5 }, () => bucket.take(atMs)).filter(Boolean).length;
  expect([taken(0), taken(499), taken(500), taken(1500), taken(60_000)]).toEqual([3, 0, 1, 2, 3]);
});

test('over any time it gives at most the burst and what the rate allows, and no less when asked all the time', () => {
  const waits = fc.array(fc.nat(3000), { minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 50 }),
      waits,
      (capacity, rate, steps) => {
        const bucket = new TokenBucket(capacity, rate);
        let now = 0;
        let given = 0;
        for (const waitMs of steps) {
          now += waitMs;
          while (bucket.take(now)) given++;
        }
        // It is full at first, so time counts from the first call.
        const most = capacity + ((now - (steps[0] ?? 0)) * rate) / 1000;
        expect(given).toBeLessThanOrEqual(most + 1e-6);
        const neverFull = steps.slice(1).every((ms) => (ms * rate) / 1000 <= capacity - 1);
        if (neverFull) expect(given).toBeGreaterThan(most - 1 - 1e-6);
      },
    ),
  );
});
