import type { Rejected } from './eligibility.js';
import type { Policy } from './policy.js';
import type { ScoreInput } from './score.js';
import { type Inputs, replay, type Selection } from './selection.js';

/** Why a delivery went to its agent: as little as it takes to make the same choice again. */
export interface Decision {
  /** Digest of the policy that was followed. */
  policy: string;
  /** `selection`: by score and strategy; `affinity`: by the key of the task. */
  by: 'selection' | 'affinity';
  seed: number;
  /** Those that were compared, as they were drawn; with `affinity` the chosen one alone. At most ten. */
  compared: ScoreInput[];
  /** How many there were to choose from. */
  of: number;
  /** For weighted round robin: what former choices had left to the compared ones, in their order. */
  turn?: number[];
  /** Nobody was in good standing, so breakers limited nobody. */
  panic?: boolean;
  rejected: Rejected;
}

/** What was decided by `selection`, to be kept. */
export function recordOf(
  selection: Selection,
  inputs: Inputs,
  rest: Pick<Decision, 'policy' | 'seed' | 'panic' | 'rejected'> & {
    turn?: ReadonlyMap<string, number> | undefined;
  },
): Decision {
  const compared = selection.compared.flatMap((at) => inputs.at(at) ?? []);
  const { turn, ...kept } = rest;
  return {
    ...kept,
    by: 'selection',
    compared,
    of: inputs.length,
    ...(selection.turn !== undefined && { turn: compared.map((c) => turn?.get(c.agentId) ?? 0) }),
  };
}

/**
 * The choice again.
 * @returns undefined where nothing was compared: it was made by affinity
 */
export function replayOf(decision: Decision, policy: Policy): Selection | undefined {
  if (decision.by === 'affinity') return undefined;
  const turn =
    decision.turn && new Map(decision.compared.map((c, i) => [c.agentId, decision.turn?.[i] ?? 0]));
  return replay(decision.compared, policy, { seed: decision.seed, turn });
}
