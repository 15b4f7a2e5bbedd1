import type { FilterName, Rejected } from './eligibility.js';
import type { Policy } from './policy.js';
import type { ScoreInput } from './score.js';
import { type Inputs, replay, type Selection } from './selection.js';
import type { Timeout } from './timeouts.js';

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
  /** How long the delivery may run, where that follows from what its agent took of late. */
  timeout?: Required<Timeout>;
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
  const compared: ScoreInput[] = [];
  for (const at of selection.compared) {
    const input = inputs.at(at);
    if (input !== undefined) compared.push(input);
  }
  const { policy, seed, panic, rejected, turn } = rest;
  const decision: Decision = { policy, by: 'selection', seed, compared, of: inputs.length, rejected };
  if (panic !== undefined) decision.panic = panic;
  if (selection.turn !== undefined) decision.turn = compared.map((c) => turn?.get(c.agentId) ?? 0);
  return decision;
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

/*
 * Kept with every delivery, and carried through each change of its task's row: so it is written without names, and without
 * what is as usual.
 */

/** [version, policy, seed, of, compared, more]; the policy's place is known to SQL: see task.sql. */
type Packed = [1, string, number, number, PackedInput[], PackedRest?];
type PackedInput = (string | number | null)[];
interface PackedRest {
  affinity?: 1;
  turn?: number[];
  panic?: 1;
  /** ms, P95 ms, calls, factor */
  timeout?: [number, number, number, number];
  counts?: Rejected['counts'];
  named?: [string, FilterName, string][];
}

/** What an input has, in order; what is as usual at the end is left out. */
const FIELDS = [
  ['agentId', null],
  ['inFlight', null],
  ['maxConcurrency', null],
  ['successRate', undefined],
  ['p50Ms', undefined],
  ['p95Ms', undefined],
  ['weight', 1],
  ['consecutiveFailures', 0],
  ['throttled', undefined],
  ['sinceSeriousFailureMs', undefined],
  ['idleMs', 0],
  ['jitterMs', undefined],
  ['versionRank', undefined],
] as const satisfies readonly (readonly [keyof ScoreInput, unknown])[];

/** As JSON, in few words. Put together by hand: it is done for every delivery. */
export function packDecision(decision: Decision): string {
  const { policy, by, seed, compared, of, turn, panic, timeout, rejected } = decision;
  let inputs = '';
  for (const input of compared) inputs += `${inputs === '' ? '' : ','}${packInput(input)}`;
  let more = passedOver(rejected);
  if (by === 'affinity') more += ',"affinity":1';
  if (turn !== undefined) more += `,"turn":${JSON.stringify(turn)}`;
  if (panic === true) more += ',"panic":1';
  if (timeout !== undefined) {
    const { ms, by: of } = timeout;
    more += `,"timeout":[${ms},${of.p95Ms},${of.calls},${of.factor}]`;
  }
  const rest = more === '' ? '' : `,{${more.slice(1)}}`;
  return `[1,${JSON.stringify(policy)},${seed},${of},[${inputs}]${rest}]`;
}

/** One pass places many tasks, and passes over the same agents for all of them. */
const passedOverTexts = new WeakMap<Rejected, string>();

function passedOver(rejected: Rejected): string {
  const known = passedOverTexts.get(rejected);
  if (known !== undefined) return known;
  const { counts, named } = rejected;
  let text = '';
  if (Object.keys(counts).length > 0) text += `,"counts":${JSON.stringify(counts)}`;
  if (named.length > 0)
    text += `,"named":${JSON.stringify(named.map((r) => [r.agentId, r.filter, r.reason]))}`;
  passedOverTexts.set(rejected, text);
  return text;
}

/** What `packDecision` wrote, read as JSON. */
export function unpackDecision([, policy, seed, of, compared, rest = {}]: Packed): Decision {
  const { affinity, turn, panic, timeout, counts = {}, named = [] } = rest;
  return {
    policy,
    by: affinity === undefined ? 'selection' : 'affinity',
    seed,
    compared: compared.map(unpackInput),
    of,
    ...(turn !== undefined && { turn }),
    ...(panic !== undefined && { panic: true }),
    ...(timeout !== undefined && { timeout: unpackTimeout(timeout) }),
    rejected: { counts, named: named.map(([agentId, filter, reason]) => ({ agentId, filter, reason })) },
  };
}

function unpackTimeout([ms, p95Ms, calls, factor]: [number, number, number, number]): Required<Timeout> {
  return { ms, by: { p95Ms, calls, factor } };
}

export type { Packed as PackedDecision };

function packInput(input: ScoreInput): string {
  let text = '';
  // What is as usual is written only where something else follows.
  let usuals = '';
  for (const [name, usual] of FIELDS) {
    const value = input[name];
    usuals += ',';
    usuals +=
      value === undefined ? 'null' : typeof value === 'string' ? JSON.stringify(value) : Number(value);
    if (value === usual) continue;
    text += usuals;
    usuals = '';
  }
  return `[${text.slice(1)}]`;
}

function unpackInput(packed: PackedInput): ScoreInput {
  const input: Record<string, unknown> = {};
  FIELDS.forEach(([name, usual], i) => {
    const value = i < packed.length ? (packed[i] ?? undefined) : usual;
    if (value !== undefined) input[name] = name === 'throttled' ? value === 1 : value;
  });
  return input as unknown as ScoreInput;
}
