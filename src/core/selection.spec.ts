import fc from 'fast-check';
import type { Candidate } from './eligibility.js';
import { DEFAULT_POLICY, type Policy, type Strategy } from './policy.js';
import { seeded } from './random.js';
import type { ScoreInput } from './score.js';
import { choose, freshest, replay, selectByAffinity } from './selection.js';

const agents = (n: number, over: (i: number) => Partial<Candidate> = () => ({})): Candidate[] =>
  Array.from({ length: n }, (_, i) => ({
    agentId: `a${i}`,
    name: 'group',
    namespace: 'default',
    capabilities: new Map(),
    tags: [],
    zone: undefined,
    endpoint: undefined,
    state: 'online' as const,
    stateReason: '',
    criticalDown: undefined,
    warmingUp: undefined,
    ejected: undefined,
    throttled: false,
    allowed: 10,
    hold: undefined,
    maxConcurrency: 10,
    inFlight: 0,
    weight: 100,
    ...over(i),
  }));

const STRATEGIES: Strategy[] = [
  'best',
  'weighted_random',
  'weighted_round_robin',
  'power_of_two',
  'least_watermark',
];
const by = (strategy: Strategy): Policy => ({ ...DEFAULT_POLICY, strategy, targetLatencyMs: 100 });

/** Agents that do well; `over` says how they differ. */
const fleet = (n: number, over: (i: number) => Partial<ScoreInput> = () => ({})): ScoreInput[] =>
  Array.from({ length: n }, (_, i) => ({
    agentId: `a${i}`,
    successRate: 1,
    p50Ms: 10,
    p95Ms: 20,
    consecutiveFailures: 0,
    idleMs: 0,
    inFlight: 0,
    maxConcurrency: 10,
    weight: 100,
    ...over(i),
  }));

/** How often each is chosen, by position. `took` may change the fleet after each choice. */
function tally(
  of: ScoreInput[],
  policy: Policy,
  times: number,
  took: (chosen: ScoreInput) => void = () => undefined,
): number[] {
  const counts = of.map(() => 0);
  const turn = new Map<string, number>();
  for (let seed = 0; seed < times; seed++) {
    const selection = choose(of, policy, { seed, turn });
    if (selection === undefined) throw new Error('nobody was chosen');
    for (const [id, value] of selection.turn ?? []) turn.set(id, value);
    counts[selection.index] = (counts[selection.index] ?? 0) + 1;
    took(of[selection.index] as ScoreInput);
  }
  return counts;
}

describe.each(STRATEGIES)('%s', (strategy) => {
  test('none of nobody, the one of one', () => {
    expect(choose([], by(strategy), { seed: 1 })).toBeUndefined();
    expect(choose(fleet(1), by(strategy), { seed: 1 })?.index).toBe(0);
  });

  test('a throttled agent gets a fifth of its usual part', () => {
    const usual = tally(fleet(4), by(strategy), 8000)[3] ?? 0;
    const throttled =
      tally(
        fleet(4, (i) => ({ throttled: i === 3 })),
        by(strategy),
        8000,
      )[3] ?? 0;
    expect(throttled / usual).toBeGreaterThan(0.12);
    expect(throttled / usual).toBeLessThan(0.28);
  });

  test('where all are throttled, one of them is taken', () => {
    const counts = tally(
      fleet(3, () => ({ throttled: true })),
      by(strategy),
      300,
    );
    expect(counts.reduce((a, b) => a + b, 0)).toBe(300);
  });

  test('of those that are back from a serious failure and a bit slower steady ones, a steady one is taken', () => {
    const of = fleet(2, (i) => (i === 0 ? { p95Ms: 5, sinceSeriousFailureMs: 10_000 } : { p95Ms: 60 }));
    const [back = 0, steady = 0] = tally(of, by(strategy), 1000);
    // Those that share in proportion give it less than two fifths.
    if (strategy.startsWith('weighted')) expect(back).toBeLessThan(400);
    else expect([back, steady]).toEqual([0, 1000]);
  });
});

test('best: the highest score of those compared', () => {
  const counts = tally(
    fleet(5, (i) => ({ p95Ms: i === 2 ? 5 : 50 })),
    by('best'),
    100,
  );
  expect(counts).toEqual([0, 0, 100, 0, 0]);
});

test('weighted random: in proportion to weight and (score x free share)², and nobody is left without a chance', () => {
  // Half of the weight, half of the slots free, and one that fails everything, slowly.
  const of = fleet(4, (i) => [{}, { weight: 50 }, { inFlight: 5 }, { successRate: 0, p95Ms: 900 }][i] ?? {});
  const counts = tally(of, by('weighted_random'), 20_000);
  const scores = choose(of, by('weighted_random'), { seed: 1 });
  const scoreOfPosition = (i: number) => scores?.scores[scores.compared.indexOf(i)]?.total ?? 0;
  const shares = [1, 0.5, 0.25, 1].map((room, i) => room * scoreOfPosition(i) ** 2);
  const sum = shares.reduce((a, b) => a + b, 0);
  for (const [i, count] of counts.entries()) expect(count / 20_000).toBeCloseTo((shares[i] ?? 0) / sum, 1.5);
  expect(counts[3]).toBeGreaterThan(0);
});

test('weighted round robin: nginx’s example, smooth', () => {
  const of = fleet(3, (i) => ({ weight: [5, 1, 1][i] ?? 1 }));
  const turn = new Map<string, number>();
  let chosen = '';
  for (let seed = 0; seed < 14; seed++) {
    // The order of drawing decides between equals; those are b and c alone.
    const selection = choose(of, by('weighted_round_robin'), { seed, turn });
    for (const [id, value] of selection?.turn ?? []) turn.set(id, value);
    chosen += 'abb'[selection?.index ?? -1] ?? '?';
  }
  expect(chosen).toBe('aababaaaababaa');
});

describe('power of two', () => {
  test('it looks at two', () => {
    for (let seed = 0; seed < 50; seed++)
      expect(choose(fleet(100), by('power_of_two'), { seed })?.compared).toHaveLength(2);
  });

  test('of two it takes the emptier share, whatever their sizes', () => {
    const pair = fleet(2, (i) =>
      i === 0 ? { maxConcurrency: 100, inFlight: 50 } : { maxConcurrency: 4, inFlight: 1 },
    );
    expect(tally(pair, by('power_of_two'), 200)).toEqual([0, 200]);
  });

  test('the fullest of many is never chosen, and the load evens out', () => {
    const of = fleet(20, (i) => ({ inFlight: i === 3 ? 10 : 0, maxConcurrency: 1000 }));
    tally(of, by('power_of_two'), 2000, (chosen) => void chosen.inFlight++);
    const loads = of.map((a) => a.inFlight);
    expect(Math.max(...loads) - Math.min(...loads)).toBeLessThan(15);
  });

  test('a heavier agent gets more', () => {
    const of = fleet(2, (i) => ({ weight: i === 0 ? 300 : 100, maxConcurrency: 1000 }));
    tally(of, by('power_of_two'), 400, (chosen) => void chosen.inFlight++);
    expect(of[0]?.inFlight).toBeGreaterThan(of[1]?.inFlight ?? Infinity);
  });

  test('a better agent is taken while it has room, then the other one helps', () => {
    const of = fleet(2, (i) => ({ successRate: i === 0 ? 1 : 0.7, maxConcurrency: 100 }));
    expect(tally(of, by('power_of_two'), 5)).toEqual([5, 0]);
    tally(of, by('power_of_two'), 100, (chosen) => void chosen.inFlight++);
    expect(of[1]?.inFlight).toBeGreaterThan(30);
    expect(of[1]?.inFlight).toBeLessThan(50);
  });

  test('equals, and those that did nothing yet, share the work of an idle fleet', () => {
    const of = fleet(3, (i) => [{}, { p95Ms: 21 }, { successRate: undefined, p95Ms: undefined }][i] ?? {});
    for (const count of tally(of, by('power_of_two'), 3000)) {
      expect(count).toBeGreaterThan(900);
      expect(count).toBeLessThan(1100);
    }
  });
});

test('least watermark: the smallest share of slots in use, then the better one', () => {
  const of = fleet(3, (i) => [{ inFlight: 1 }, { p95Ms: 90 }, { p95Ms: 10 }][i] ?? {});
  expect(tally(of, by('least_watermark'), 50)).toEqual([0, 0, 50]);
  expect(tally(of.slice(0, 2), by('least_watermark'), 50)).toEqual([0, 50]);
});

test('of many, ten at most are compared, all are drawn alike, and only those are read', () => {
  const of = fleet(200);
  for (const strategy of STRATEGIES) {
    let read = 0;
    const inputs = { length: of.length, at: (i: number) => (read++, of[i]) };
    expect(choose(inputs, by(strategy), { seed: 7 })?.compared.length).toBeLessThanOrEqual(10);
    expect(read).toBeLessThanOrEqual(10);
  }
  for (const count of tally(fleet(25), by('best'), 10_000)) {
    expect(count).toBeGreaterThan(300);
    expect(count).toBeLessThan(500);
  }
});

const share = fc.double({ min: 0, max: 1, noNaN: true });
const known = { nil: undefined };
const anyInput = fc.record({
  successRate: fc.option(share, known),
  p50Ms: fc.option(fc.nat(1000), known),
  p95Ms: fc.option(fc.nat(1000), known),
  consecutiveFailures: fc.nat(10),
  idleMs: fc.option(fc.nat(60_000), known),
  inFlight: fc.nat(20),
  maxConcurrency: fc.integer({ min: 1, max: 20 }),
  weight: fc.nat(300),
  sinceSeriousFailureMs: fc.option(fc.nat(60_000), known),
  throttled: fc.boolean(),
});

test('a choice that was recorded as JSON is made again from its own compared inputs, seed and turn', () => {
  fc.assert(
    fc.property(
      fc.array(anyInput, { minLength: 1, maxLength: 40 }),
      fc.constantFrom(...STRATEGIES),
      fc.constantFrom<Policy['score']>({ preset: 'reach' }, { preset: 'dispatch' }, { preset: 'connect' }),
      fc.array(fc.nat({ max: 0xffff_ffff }), { minLength: 1, maxLength: 5 }),
      (some, strategy, score, seeds) => {
        const of = some.map((input, i) => ({ ...input, agentId: `a${i}` }));
        const policy = { ...by(strategy), score };
        let turn = new Map<string, number>();
        for (const seed of seeds) {
          const selection = choose(of, policy, { seed, turn });
          if (selection === undefined) throw new Error('nobody was chosen');
          const inputs = selection.compared.map((i) => of[i]);
          const ids = inputs.map((input) => input?.agentId);
          const kept = [...turn].filter(([id]) => ids.includes(id));
          const record = JSON.parse(JSON.stringify({ inputs, seed, policy, turn: kept }));
          const again = replay(record.inputs, record.policy, {
            seed: record.seed,
            turn: new Map(record.turn),
          });
          expect(selection.compared[again?.index ?? -1]).toBe(selection.index);
          expect(again?.scores).toEqual(selection.scores);
          expect(again?.turn).toEqual(selection.turn);
          turn = new Map([...turn, ...(selection.turn ?? [])]);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('seeds make numbers that spread, and the same ones each time', () => {
  const draw = (seed: number) => Array.from({ length: 1000 }, seeded(seed));
  expect(draw(5)).toEqual(draw(5));
  expect(draw(5).slice(0, 5)).not.toEqual(draw(6).slice(0, 5));
  // The first numbers of neighbouring seeds spread too: each choice has a seed of its own.
  const firsts = Array.from({ length: 10_000 }, (_, seed) => seeded(seed)());
  for (const numbers of [draw(5), firsts])
    for (let tenth = 0; tenth < 10; tenth++) {
      const part = numbers.filter((u) => Math.floor(u * 10) === tenth).length / numbers.length;
      expect(part).toBeGreaterThan(0.07);
      expect(part).toBeLessThan(0.13);
    }
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
