import { type ReachError, wireCode } from '../core/errors.js';

/** A failure of one item of many, beside the answers for the others. */
export function itemProblem({ code, message, retryable, extra }: ReachError) {
  const { retry_after_ms } = extra;
  return {
    code: wireCode(code),
    detail: message,
    retryable,
    ...(retry_after_ms !== undefined && { retry_after_ms }),
  };
}
