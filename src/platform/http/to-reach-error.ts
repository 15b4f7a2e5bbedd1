import { HttpException } from '@nestjs/common';
import { type ErrorCode, ReachError } from '../../core/errors.js';

/** Statuses that Nest and Fastify raise by themselves, before any code of ours runs. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'VALIDATION_FAILED',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  414: 'VALIDATION_FAILED',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'RATE_LIMITED',
  503: 'UNAVAILABLE',
};

const DETAIL: Partial<Record<ErrorCode, string>> = {
  PAYLOAD_TOO_LARGE: 'The body is larger than this call takes',
  UNSUPPORTED_MEDIA_TYPE: 'The body must be sent with Content-Type: application/json',
};

/** SQLSTATE classes that mean "not now": connection, resources, operator, and the statement timeout. */
const AWAY_SQLSTATE = /^(08|53|57)/;
const AWAY_SYSTEM = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);
/** node-postgres tells these apart by their words only. */
const AWAY_WORDS =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|not queryable|after calling end on the pool/;

/**
 * The catalogue error of anything that was thrown, or undefined when it is a bug (rendered as INTERNAL).
 * A store that is away is UNAVAILABLE: the caller may try again.
 */
export function toReachError(error: unknown): ReachError | undefined {
  if (error instanceof ReachError) return error;
  if (error instanceof HttpException) return ofStatus(error.getStatus(), error.message);
  const store = awayStore(error);
  if (store !== undefined) {
    return new ReachError('UNAVAILABLE', `${store} does not answer, and this call needs it; try again`, {
      retry_after_ms: 1000,
      cause: error,
    });
  }
  return undefined;
}

function ofStatus(status: number, message: string): ReachError | undefined {
  const code = BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'VALIDATION_FAILED' : undefined);
  return code && new ReachError(code, DETAIL[code] ?? message);
}

/** The store that did not answer, when that is what went wrong. */
function awayStore(error: unknown): 'Redis' | 'PostgreSQL' | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'CoordinatorUnavailable') return 'Redis';
  const code: unknown = 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && (AWAY_SYSTEM.has(code) || (code.length === 5 && AWAY_SQLSTATE.test(code))))
    return 'PostgreSQL';
  if (AWAY_WORDS.test(error.message)) return 'PostgreSQL';
  return awayStore(error.cause ?? ('driverError' in error ? error.driverError : undefined));
}
