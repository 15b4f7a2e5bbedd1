import type { ErrorCode } from './errors.js';

/**
 * What the evidence says about the work of a failed attempt. The ACK is the claim: without `execute: true`
 * nothing has started. A push agent that was sent the task may have begun although its answer got lost.
 */
export type Evidence = 'never_started' | 'maybe_started' | 'failed_for_sure';

export interface AttemptEnd {
  code: ErrorCode;
  evidence: Evidence;
  /** What the agent said of itself; undefined when it said nothing. */
  agentSaysRetryable?: boolean;
}

export interface RetryFacts {
  idempotent: boolean;
  /** Attempts charged so far, this one included. */
  attempt: number;
  maxAttempts: number;
  /** The time of the whole task has ended. */
  over?: boolean;
}

export type RetryVerdict =
  { retry: true } | { retry: false; because: 'attempts_used' | 'not_idempotent' | 'over' | 'final' };

/** Codes whose failure another attempt cannot mend. */
const FINAL: ReadonlySet<ErrorCode> = new Set([
  'CONTRACT_MISMATCH',
  'PAYLOAD_TOO_LARGE',
  'CALL_CYCLE',
  'CANCELED',
  'TASK_EXPIRED',
]);

/**
 * Whether a failed attempt is followed by another. What never started always may; what may have started or
 * has failed only where the task is idempotent; and an agent may say that trying again is of no use.
 */
export function judgeRetry(end: AttemptEnd, task: RetryFacts): RetryVerdict {
  if (FINAL.has(end.code)) return { retry: false, because: 'final' };
  if (end.agentSaysRetryable === false) return { retry: false, because: 'final' };
  if (end.evidence !== 'never_started' && !task.idempotent)
    return { retry: false, because: 'not_idempotent' };
  if (task.over === true) return { retry: false, because: 'over' };
  if (task.attempt >= task.maxAttempts) return { retry: false, because: 'attempts_used' };
  return { retry: true };
}
