import type { ProbeResult } from '../core/probe-result.js';

/**
 * How long the parts of a probe may take, in milliseconds. `connectMs` covers the name, TCP and TLS,
 * `firstByteMs` the time from the request to the first byte of the answer, `totalMs` everything.
 */
export interface ProbeLimits {
  connectMs: number;
  firstByteMs: number;
  totalMs: number;
}

/** Probes targets of one type. A new type is one file that implements this, and its line in `Probers`. */
export interface Prober<T> {
  /** The `type` of the dependencies that it probes. */
  readonly type: string;

  /**
   * Reads what a dependency declares.
   * @throws ReachError VALIDATION_FAILED with a pointer for each bad place
   */
  parse(target: unknown): T;

  /**
   * Targets with the same key are the same thing asked in the same way, so that one probe serves them all.
   * Credentials stand in it by the name of their reference, never by value.
   */
  keyOf(target: T): string;

  /** `host:port`, for the limit of probes to one host. */
  hostOf(target: T): string;

  /**
   * Probes once. Never throws or rejects, ends by `limits.totalMs` or when `signal` aborts, whichever comes
   * first, and holds no connection or timer afterwards.
   */
  probe(target: T, limits: ProbeLimits, signal: AbortSignal): Promise<ProbeResult>;
}
