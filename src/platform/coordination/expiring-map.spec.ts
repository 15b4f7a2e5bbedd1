import { ExpiringMap } from './expiring-map.js';

describe('ExpiringMap', () => {
  let nowMs: number;
  let map: ExpiringMap<string>;
  beforeEach(() => {
    nowMs = 0;
    map = new ExpiringMap(() => nowMs);
  });

  test('an entry lives for exactly its time to live', () => {
    map.set('k', 'v', 10);
    nowMs = 9;
    expect(map.get('k')).toBe('v');
    nowMs = 10;
    expect(map.get('k')).toBeUndefined();
    expect(map.delete('k')).toBe(false);
  });

  test('setting it again gives it a new life', () => {
    map.set('k', 'v', 10);
    nowMs = 5;
    map.set('k', 'w', 10);
    nowMs = 14;
    expect(map.get('k')).toBe('w');
    expect(map.delete('k')).toBe(true);
  });

  test('memory follows what is alive: a million short-lived keys leave nothing behind', () => {
    map.set('long', 'v', 10_000_000);
    let mostHeld = 0;
    for (let i = 0; i < 1_000_000; i++) {
      nowMs = i;
      map.set(`k${i}`, 'v', 1_000);
      mostHeld = Math.max(mostHeld, map.heldCount);
    }
    // 1 000 are alive at any time.
    expect(mostHeld).toBeLessThan(3_000);
    expect(map.get('long')).toBe('v');
  });
});
