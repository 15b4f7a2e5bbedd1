import fc from 'fast-check';
import {
  type Decision,
  packDecision,
  type PackedDecision,
  recordOf,
  replayOf,
  unpackDecision,
} from './decision.js';
import { FILTER_NAMES } from './eligibility.js';
import { DEFAULT_POLICY, STRATEGIES } from './policy.js';
import type { ScoreInput } from './score.js';
import { choose } from './selection.js';

const maybe = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: undefined });
const ms = fc.integer({ min: 0, max: 10 ** 9 });
const input: fc.Arbitrary<ScoreInput> = fc
  .record({
    agentId: fc.string({ minLength: 1 }),
    successRate: maybe(fc.double({ min: 0, max: 1, noNaN: true })),
    p50Ms: maybe(ms),
    p95Ms: maybe(ms),
    jitterMs: maybe(ms),
    idleMs: maybe(ms),
    sinceSeriousFailureMs: maybe(ms),
    throttled: maybe(fc.boolean()),
    // JSON knows no -0.
    versionRank: maybe(fc.double({ min: -1, max: 1, noNaN: true }).map((rank) => rank + 0)),
    consecutiveFailures: fc.nat(10),
    inFlight: fc.nat(5),
    maxConcurrency: fc.integer({ min: 1, max: 8 }),
    weight: fc.double({ min: 0.1, max: 10, noNaN: true }),
  })
  .map(
    (given) =>
      Object.fromEntries(Object.entries(given).filter(([, v]) => v !== undefined)) as unknown as ScoreInput,
  );
const rejected = fc.record({
  counts: fc.dictionary(fc.constantFrom(...FILTER_NAMES), fc.nat(100)),
  named: fc.array(
    fc.record({ agentId: fc.string(), filter: fc.constantFrom(...FILTER_NAMES), reason: fc.string() }),
    { maxLength: 10 },
  ),
});

const packed = (decision: Decision) => JSON.parse(packDecision(decision)) as PackedDecision;

test('what was packed is read as it was, and makes the same choice', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(input, { minLength: 1, maxLength: 30, selector: (i) => i.agentId }),
      fc.constantFrom(...STRATEGIES),
      fc.nat(),
      rejected,
      fc.boolean(),
      (inputs, strategy, seed, passedOver, panic) => {
        const policy = { ...DEFAULT_POLICY, strategy };
        const turn = new Map(inputs.map((i, n) => [i.agentId, n / 3]));
        const selection = choose(inputs, policy, { seed, turn });
        const kept = { policy: 'digest', seed, rejected: passedOver, turn, ...(panic && { panic }) };
        const decision = recordOf(selection!, inputs, kept);
        const read = unpackDecision(packed(decision));
        expect(read).toEqual(decision);
        const again = replayOf(read, policy);
        expect(read.compared[again!.index]?.agentId).toBe(inputs[selection!.index]?.agentId);
        expect(again!.scores).toEqual(selection!.scores);
      },
    ),
  );
});

test('a choice by affinity has nothing to make again', () => {
  const decision: Decision = {
    policy: 'digest',
    by: 'affinity',
    seed: 1,
    compared: [],
    of: 3,
    timeout: { ms: 12_450, by: { p95Ms: 8300, calls: 214, factor: 1.5 } },
    rejected: { counts: {}, named: [] },
  };
  expect(unpackDecision(packed(decision))).toEqual(decision);
  expect(replayOf(decision, DEFAULT_POLICY)).toBeUndefined();
});

test('of an ordinary choice of two little is kept', () => {
  const one = { inFlight: 1, maxConcurrency: 10, successRate: 0.995, p50Ms: 12, p95Ms: 40, idleMs: 0 };
  const inputs = ['agent-1', 'agent-2'].map((agentId) => ({
    ...one,
    agentId,
    consecutiveFailures: 0,
    weight: 1,
  }));
  const selection = choose(inputs, DEFAULT_POLICY, { seed: 7 });
  const about = { policy: '0123456789abcdef', seed: 7, rejected: { counts: {}, named: [] } };
  expect(packDecision(recordOf(selection!, inputs, about)).length).toBeLessThan(120);
});
