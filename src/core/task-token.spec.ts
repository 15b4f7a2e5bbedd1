import { keyLifeMs, shownBeforeMs, signingKey } from './task-token.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const keys = (...agesMs: number[]) => agesMs.map((ageMs, i) => ({ kid: `k${i}`, ageMs }));

describe('signingKey', () => {
  test('has nothing to choose where there is no key', () => {
    expect(signingKey([], DAY_MS)).toBeUndefined();
  });

  test('takes the only key at once: nobody can have another in mind', () => {
    expect(signingKey(keys(0), 30 * DAY_MS)?.kid).toBe('k0');
  });

  test('stays with the old key until the new one was shown for ten minutes', () => {
    expect(signingKey(keys(10 * MINUTE_MS - 1, 30 * DAY_MS), 30 * DAY_MS)?.kid).toBe('k1');
    expect(signingKey(keys(10 * MINUTE_MS, 30 * DAY_MS), 30 * DAY_MS)?.kid).toBe('k0');
  });

  test('takes the oldest of keys that are all new, whatever order they come in', () => {
    expect(signingKey(keys(5, 900), DAY_MS)?.kid).toBe('k1');
    expect(signingKey(keys(900, 5), DAY_MS)?.kid).toBe('k0');
  });

  test('two replicas that made a key at one moment come to the same one', () => {
    const [a, b] = [
      { kid: 'a', ageMs: MINUTE_MS },
      { kid: 'b', ageMs: MINUTE_MS },
    ];
    expect(signingKey([a, b], DAY_MS)).toBe(signingKey([b, a], DAY_MS));
  });

  test('keys that live for a minute are shown for a part of it', () => {
    expect(shownBeforeMs(MINUTE_MS)).toBe(15_000);
    expect(signingKey(keys(15_000, MINUTE_MS), MINUTE_MS)?.kid).toBe('k0');
  });
});

test('a key outlives the longest delivery that its last token is for', () => {
  const lastUseMs = 30 * DAY_MS + shownBeforeMs(30 * DAY_MS);
  expect(keyLifeMs(30 * DAY_MS) - lastUseMs).toBeGreaterThan(7 * DAY_MS);
});
