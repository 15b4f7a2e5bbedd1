import type { Rng } from './backoff.js';
import type { Candidate } from './eligibility.js';
import { hash32 } from './hash.js';
import type { Policy, Strategy } from './policy.js';
import { seeded, shuffled } from './random.js';
import { isUnsteady, scoreOf, type Score, type ScoreInput } from './score.js';

/** Most agents that one choice compares: its cost, and what is kept of it, do not grow with the fleet. */
const SAMPLE = 10;
/** Scores that differ by less count as the same: load decides between equals, and a fleet of equals shares its work. */
const NEAR = 0.02;
/** The least that a random choice gives a score: nobody is without a chance to show that it is better now. */
const LEAST_SCORE = 0.02;
/** Lets the numbers for comparing be others than those for drawing, so that a replay needs no drawing. */
const COMPARING = 0x5bd1e995;

/** The candidates by position. An array is one; one that reads on demand reads those alone that are compared. */
export interface Inputs {
  readonly length: number;
  at(index: number): ScoreInput | undefined;
}

/** What a choice depends on beside its inputs and its policy. */
export interface Draw {
  /** A new one for each choice; 32 bits of it count. */
  seed: number;
  /** For `weighted_round_robin`: what former choices left, by agent id. */
  turn?: Turn | undefined;
}

export type Turn = ReadonlyMap<string, number>;

export interface Selection {
  /** Position of the chosen one. */
  index: number;
  /** Positions of those that were looked at, in the order in which they were drawn: the inputs of a replay. */
  compared: number[];
  /** Their scores, in the same order. */
  scores: Score[];
  /** For `weighted_round_robin`: what this choice leaves of the compared ones, to be merged into what is kept. */
  turn?: Turn;
}

interface Contender {
  index: number;
  input: ScoreInput;
  score: Score;
}

/**
 * Chooses one of the candidates by the policy. At most ten of them are compared, drawn at random; `power_of_two` looks at
 * two. The same inputs, policy, seed and turn give the same choice, always. One that is throttled takes part in
 * `recoveryShare` of the choices that it is drawn for, and then as an equal.
 * @returns undefined where there are no candidates
 */
export function choose(inputs: Inputs, policy: Policy, draw: Draw): Selection | undefined {
  return compare(inputs, shuffled(inputs.length, seeded(draw.seed)), policy, draw);
}

/**
 * The choice again, from what was recorded of it.
 * @param compared the inputs at `Selection.compared`, in that order; the index is a position in them
 */
export function replay(compared: readonly ScoreInput[], policy: Policy, draw: Draw): Selection | undefined {
  let next = 0;
  return compare(compared, () => next++, policy, draw);
}

function compare(
  inputs: Inputs,
  next: () => number,
  policy: Policy,
  { seed, turn = new Map() }: Draw,
): Selection | undefined {
  const rng = seeded(seed ^ COMPARING);
  const drawn: Contender[] = [];
  const admitted: Contender[] = [];
  const most = Math.min(SAMPLE, inputs.length);
  const enough = policy.strategy === 'power_of_two' ? 2 : most;
  while (drawn.length < most && admitted.length < enough) {
    const index = next();
    const input = inputs.at(index);
    if (input === undefined) break;
    const contender = { index, input, score: scoreOf(input, policy) };
    drawn.push(contender);
    if (input.throttled !== true || rng() < policy.breaker.recoveryShare) admitted.push(contender);
  }
  const picked = pick(admitted.length > 0 ? admitted : drawn, policy, rng, turn);
  if (picked === undefined) return undefined;
  return {
    index: picked.chosen.index,
    compared: drawn.map((c) => c.index),
    scores: drawn.map((c) => c.score),
    ...(picked.turn !== undefined && { turn: picked.turn }),
  };
}

interface Picked {
  chosen: Contender;
  turn?: Turn;
}

function pick(of: readonly Contender[], policy: Policy, rng: Rng, turn: Turn): Picked | undefined {
  if (policy.strategy === 'weighted_round_robin') return smoothRoundRobin(of, turn);
  const chosen = STRATEGIES[policy.strategy](of, policy, rng);
  return chosen && { chosen };
}

type Pick = (of: readonly Contender[], policy: Policy, rng: Rng) => Contender | undefined;

const STRATEGIES: Record<Exclude<Strategy, 'weighted_round_robin'>, Pick> = {
  /** The highest score; between equals the one with more room. */
  best: (of) => highest(of, ({ score }) => score.total, headroom),

  /**
   * By chance, in proportion to weight and to the square of score x free share. Squared, since in plain proportion a slow
   * one fills up: with one of four ten times slower that made 17 % more than pure chance, this makes 31 %
   * (test/simulation).
   */
  weighted_random(of, _policy, rng) {
    const shares = of.map(
      ({ input, score }) => input.weight * (Math.max(score.total, LEAST_SCORE) * freeShare(input)) ** 2,
    );
    let left = rng() * shares.reduce((a, b) => a + b, 0);
    return of.find((_, i) => (left -= shares[i] ?? 0) < 0) ?? of[0];
  },

  /**
   * Of two random ones the one with more room x weight x score. Constant time, no herd on the single best, and close to
   * least-loaded in effect (Mitzenmacher 2001).
   */
  power_of_two([a, b], policy) {
    if (a === undefined || b === undefined) return a;
    const alike = areAlike(a, b, policy);
    const worth = (c: Contender) => headroom(c) * (alike ? 1 : c.score.total);
    return worth(b) > worth(a) ? b : a;
  },

  /** The smallest share of its slots in use; between equals the higher score x weight. */
  least_watermark: (of) =>
    highest(
      of,
      (c) => freeShare(c.input),
      ({ score, input }) => score.total * input.weight,
    ),
};

/** The first of those that are highest by `first`, and among these by `second`. */
function highest(
  of: readonly Contender[],
  first: (c: Contender) => number,
  second: (c: Contender) => number,
): Contender | undefined {
  let best: Contender | undefined;
  for (const c of of) {
    const more = best === undefined ? 1 : first(c) - first(best) || second(c) - second(best);
    if (more > 0) best = c;
  }
  return best;
}

/**
 * Whether the scores of two say nothing: they are near each other, or one of them did nothing yet and has to be tried to
 * be known, or is throttled, and this is its part.
 */
function areAlike(a: Contender, b: Contender, policy: Policy): boolean {
  if (isUnsteady(a.input, policy) || isUnsteady(b.input, policy)) return false;
  if ([a, b].some(({ input }) => input.successRate === undefined || input.throttled === true)) return true;
  return Math.abs(a.score.total - b.score.total) < NEAR;
}

/** The emptier and heavier, the more attractive. */
function headroom({ input }: Contender): number {
  return freeShare(input) * input.weight;
}

function freeShare({ inFlight, maxConcurrency }: ScoreInput): number {
  return Math.max(0, 1 - inFlight / maxConcurrency);
}

/**
 * Smooth weighted round robin, as nginx does it: everyone gains its weight, the one that has most goes and pays what all
 * gained. Weights 5, 1, 1 give a a b a c a a rather than five times a in a row.
 */
function smoothRoundRobin(of: readonly Contender[], turn: Turn): Picked | undefined {
  const after = new Map<string, number>();
  let chosen: Contender | undefined;
  let all = 0;
  let most = -Infinity;
  for (const c of of) {
    const gain = c.input.weight * Math.max(c.score.total, LEAST_SCORE);
    const has = (turn.get(c.input.agentId) ?? 0) + gain;
    after.set(c.input.agentId, has);
    all += gain;
    if (has > most) {
      chosen = c;
      most = has;
    }
  }
  if (chosen === undefined) return undefined;
  after.set(chosen.input.agentId, most - all);
  return { chosen, turn: after };
}

/**
 * Those that an attempt should go to: agents that have not tried the task; where all have, all but the last one;
 * where there is no other, that one again.
 * @param tried agent ids, the last one last
 */
export function freshest<C extends { agentId: string }>(
  candidates: readonly C[],
  tried: readonly string[],
): readonly C[] {
  if (tried.length === 0) return candidates;
  const untried = candidates.filter((c) => !tried.includes(c.agentId));
  if (untried.length > 0) return untried;
  const others = candidates.filter((c) => c.agentId !== tried.at(-1));
  return others.length > 0 ? others : candidates;
}

/**
 * Rendezvous choice for an affinity key: the same key goes to the same agent for as long as that agent is
 * eligible, and only its keys move when it is not.
 */
export function selectByAffinity<C extends Candidate>(candidates: readonly C[], key: string): C | undefined {
  let best: C | undefined;
  let bestHash = -1;
  for (const candidate of candidates) {
    const hash = hash32(`${key}\u0000${candidate.agentId}`);
    if (hash > bestHash) {
      best = candidate;
      bestHash = hash;
    }
  }
  return best;
}
