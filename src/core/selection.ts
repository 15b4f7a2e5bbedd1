import type { Rng } from './backoff.js';
import type { Candidate } from './eligibility.js';
import { hash32 } from './hash.js';

/**
 * Chooses one of the eligible candidates. Placement asks it once a task and raises `inFlight` of the chosen
 * one in between, so a batch spreads by itself.
 */
export interface Selector {
  select<C extends Candidate>(candidates: readonly C[], rng: Rng): C | undefined;
}

/** Free slots per weight: the emptier and heavier, the more attractive. */
function headroom(c: Candidate): number {
  return ((c.maxConcurrency - c.inFlight) / c.maxConcurrency) * c.weight;
}

/**
 * Power of two choices: of two random candidates the one with more headroom. Constant time, no herd on the
 * single best, and close to least-loaded in effect (Mitzenmacher 2001).
 */
export const powerOfTwo: Selector = {
  select(candidates, rng) {
    const n = candidates.length;
    if (n <= 1) return candidates[0];
    const i = Math.floor(rng() * n);
    const j = (i + 1 + Math.floor(rng() * (n - 1))) % n;
    const a = candidates[i];
    const b = candidates[j];
    if (a === undefined || b === undefined) return a ?? b;
    return headroom(b) > headroom(a) ? b : a;
  },
};

/**
 * Those that an attempt should go to: agents that have not tried the task; where all have, all but the last one;
 * where there is no other, that one again.
 * @param tried agent ids, the last one last
 */
export function freshest<C extends Candidate>(
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
