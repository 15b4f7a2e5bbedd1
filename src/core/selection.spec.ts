import fc from 'fast-check';
import type { Candidate } from './eligibility.js';
import { freshest, powerOfTwo, selectByAffinity } from './selection.js';

const agents = (n: number, over: (i: number) => Partial<Candidate> = () => ({})): Candidate[] =>
  Array.from({ length: n }, (_, i) => ({
    agentId: `a${i}`,
    name: 'group',
    namespace: 'default',
    capabilities: new Map(),
    tags: [],
    zone: undefined,
    state: 'online' as const,
    stateReason: '',
    criticalDown: undefined,
    warmingUp: undefined,
    hold: undefined,
    maxConcurrency: 10,
    inFlight: 0,
    weight: 100,
    ...over(i),
  }));

/** A small generator that is good enough to spread choices, and the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test('none of nobody, the one of one', () => {
  expect(powerOfTwo.select([], Math.random)).toBeUndefined();
  const [only] = agents(1);
  expect(powerOfTwo.select([only as Candidate], Math.random)).toBe(only);
});

test('of two it takes the emptier share, whatever their sizes', () => {
  const pair = agents(2, (i) =>
    i === 0 ? { maxConcurrency: 100, inFlight: 50 } : { maxConcurrency: 4, inFlight: 1 },
  );
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), (u) => {
      expect(powerOfTwo.select(pair, () => u)?.agentId).toBe('a1');
    }),
  );
});

test('the fullest of many is never chosen, and the load evens out', () => {
  const rng = seeded(7);
  const fleet = agents(20, (i) => ({ inFlight: i === 3 ? 10 : 0, maxConcurrency: 1000 }));
  for (let i = 0; i < 2000; i++) {
    const chosen = powerOfTwo.select(fleet, rng) as Candidate;
    chosen.inFlight++;
  }
  const loads = fleet.map((a) => a.inFlight);
  expect(Math.max(...loads) - Math.min(...loads)).toBeLessThan(15);
});

test('a heavier agent gets more', () => {
  const rng = seeded(11);
  const fleet = agents(2, (i) => ({ weight: i === 0 ? 300 : 100, maxConcurrency: 1000 }));
  for (let i = 0; i < 400; i++) (powerOfTwo.select(fleet, rng) as Candidate).inFlight++;
  expect(fleet[0]?.inFlight).toBeGreaterThan(fleet[1]?.inFlight ?? Infinity);
});

describe('affinity', () => {
  test('a key keeps its agent, and only the keys of a lost agent move', () => {
    const fleet = agents(8);
    const keys = Array.from({ length: 400 }, (_, i) => `key-${i}`);
    const before = new Map(keys.map((key) => [key, selectByAffinity(fleet, key)?.agentId]));
    const rest = fleet.filter((a) => a.agentId !== 'a5');
    for (const key of keys) {
      const now = selectByAffinity(rest, key)?.agentId;
      if (before.get(key) === 'a5') expect(now).not.toBe('a5');
      else expect(now).toBe(before.get(key));
    }
  });

  test('keys spread over all agents', () => {
    const fleet = agents(8);
    const counts = new Map<string, number>();
    for (let i = 0; i < 4000; i++) {
      const id = selectByAffinity(fleet, `key-${i}`)?.agentId ?? '';
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    expect(counts.size).toBe(8);
    for (const count of counts.values()) expect(count).toBeGreaterThan(300);
  });
});

test.each([
  ['nothing was tried', [], ['a0', 'a1', 'a2']],
  ['one was', ['a1'], ['a0', 'a2']],
  ['all were: not the last one', ['a2', 'a0', 'a1'], ['a0', 'a2']],
  ['one that is gone was the last', ['a2', 'a0', 'a1', 'a9'], ['a0', 'a1', 'a2']],
])('the next attempt where %s', (_what, tried, expected) => {
  expect(freshest(agents(3), tried).map((c) => c.agentId)).toEqual(expected);
});

test('the only one there is gets it again', () => {
  expect(freshest(agents(1), ['a0']).map((c) => c.agentId)).toEqual(['a0']);
});
