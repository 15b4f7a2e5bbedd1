import type { Verdict } from '../core/verdict.js';
import type { ProbeFact } from '../registry/agent-facts.js';
import type { LeaseRef } from '../registry/registry.store.js';
import type { Target } from './pacer.js';

/** An agent that a verdict is about. */
export interface Listener {
  readonly agentKey: string;
  readonly ref: LeaseRef;
  /** Without this thing in order it can take no work. */
  readonly critical: boolean;
}

/** Something under watch: probed at its interval, with a verdict that its listeners share. */
export interface Watched extends Target {
  /** What is counted together in metrics: a type of dependency, or a layer. */
  readonly kind: string;
  /** What it is, for people; any text that can be stored. */
  readonly label: string;
  readonly intervalMs: number;
  /** Factor on its interval: more than 1 for one that is only sampled. */
  readonly stretch: number;
  /** Its place in the interval, on the clock that all replicas share. */
  readonly phase: number;
  /** What the probes so far say. */
  verdict: ProbeFact;
  /** What was last told to the listeners. */
  told: ProbeFact;
  toldAtMs: number;
  /** When the first of the failures running was seen, on the monotonic clock. */
  failingSinceMs: number;
  listeners(): Iterable<Listener>;
  /** Tells one listener, or all, what the verdict is. */
  tell(evidence: Record<string, unknown>): void;
}

/** Whether a failure was seen that is not settled yet, or a first sign of recovery: then the next probe comes soon. */
export function isUnsettled(v: Verdict): boolean {
  return v.standing === 'suspect' || (v.standing === 'bad' && v.successes > 0);
}

const BADNESS: Readonly<Record<Verdict['standing'], number>> = { unknown: 0, good: 0, suspect: 1, bad: 2 };

/** Whether `now` is worse news than `before`. */
export function isWorse(now: Verdict, before: Verdict): boolean {
  return BADNESS[now.standing] > BADNESS[before.standing];
}

/** Whether people or placement would see a difference. */
export function differs(a: ProbeFact, b: ProbeFact): boolean {
  return a.standing !== b.standing || a.fault !== b.fault || (a.slow ?? false) !== (b.slow ?? false);
}
