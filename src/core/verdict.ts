/**
 * What a row of probe results says about one thing that is probed: an agent's echo, or one of its dependencies.
 *
 * unknown: never probed. good. suspect: a result failed and is being confirmed. bad: enough failed running.
 */
export const STANDINGS = ['unknown', 'good', 'suspect', 'bad'] as const;
export type Standing = (typeof STANDINGS)[number];

export interface Verdict {
  standing: Standing;
  /** Failures running, up to now; 0 after a good result. */
  failures: number;
  /** Good results running, up to now; 0 after a failure. */
  successes: number;
  /** The newest result that counted. A new owner goes on counting from here. */
  seq: number;
  /** When the standing became what it is: ms since 1970 by the observer's clock, for people to read. */
  sinceMs: number;
  /** Kind and sentence of the latest failure, while the standing is not good. */
  fault?: string;
  detail?: string;
}

/** One result of a probe. `seq` rises in the order in which probes of the thing were *started*. */
export interface Observation {
  ok: boolean;
  seq: number;
  atMs: number;
  fault?: string;
  detail?: string;
}

/** Failures running that make bad, good results running that make good again. */
export interface Hysteresis {
  down: number;
  up: number;
}

export const UNKNOWN: Verdict = { standing: 'unknown', failures: 0, successes: 0, seq: -1, sinceMs: 0 };

/**
 * The verdict after one more result. The first failure makes suspect at once, since isolating is cheap; bad takes
 * `down` failures running; the way back to good takes `up` good results running, so that input which flaps
 * (F S F S) makes one change, to suspect, and no other. A result that is not newer than the newest that counted (the
 * late answer of an older probe) changes nothing.
 */
export function observe(v: Verdict, r: Observation, rules: Hysteresis): Verdict {
  if (r.seq <= v.seq) return v;
  return r.ok ? afterSuccess(v, r, rules.up) : afterFailure(v, r, rules.down);
}

function afterSuccess(v: Verdict, r: Observation, up: number): Verdict {
  const successes = v.successes + 1;
  const good = v.standing === 'good' || v.standing === 'unknown' || successes >= up;
  if (!good) return { ...v, successes, failures: 0, seq: r.seq };
  const sinceMs = v.standing === 'good' ? v.sinceMs : r.atMs;
  return { standing: 'good', failures: 0, successes, seq: r.seq, sinceMs };
}

function afterFailure(v: Verdict, r: Observation, down: number): Verdict {
  const failures = v.failures + 1;
  const standing = v.standing === 'bad' || failures >= down ? 'bad' : 'suspect';
  return {
    standing,
    failures,
    successes: 0,
    seq: r.seq,
    sinceMs: standing === v.standing ? v.sinceMs : r.atMs,
    ...(r.fault !== undefined && { fault: r.fault }),
    ...(r.detail !== undefined && { detail: r.detail }),
  };
}
