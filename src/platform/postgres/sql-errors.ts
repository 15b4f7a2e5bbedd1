/**
 * What a failed statement means for its caller. The decision is made from SQLSTATE where the server
 * answered, and from the socket's error where it did not.
 */

/** Errors of the socket, of name resolution and of node-postgres itself: no answer from the server. */
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** `Query runner`: TypeORM took the connection away because it broke. */
const DRIVER_MESSAGES =
  /^(Query runner already released|Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed)/;

/** The SQLSTATE of an answer of the server, or null when the error is not one. */
export function sqlState(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  const severity = (error as { severity?: unknown } | null)?.severity;
  return typeof code === 'string' && code.length === 5 && typeof severity === 'string' ? code : null;
}

/**
 * The connection is gone or was never made, or the server goes down or is not ready; whether a statement
 * that was under way took effect is unknown.
 */
export function isConnectionError(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== null) return state.startsWith('08') || state.startsWith('57P');
  if (!(error instanceof Error) && typeof (error as { message?: unknown } | null)?.message !== 'string') {
    return false;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined && SOCKET_CODES.has(code)) return true;
  // Node reports several refused addresses of one name as an AggregateError.
  const errors = (error as Partial<AggregateError>).errors;
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isConnectionError);
  return DRIVER_MESSAGES.test(message);
}

/** The server does not let this client in: user, password, permission (28...), or no such database (3D000). */
export function isRefusal(error: unknown): boolean {
  const state = sqlState(error);
  return state !== null && (state.startsWith('28') || state === '3D000');
}

/** The row itself is at fault (bad value, broken constraint, refused by a trigger): it fails every time. */
export function isDataError(error: unknown): boolean {
  const state = sqlState(error);
  if (state === null || isStaleRoute(error)) return false;
  return state.startsWith('22') || state.startsWith('23') || state === 'P0001';
}

/** 23505: a unique index has the key already. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (sqlState(error) !== '23505') return false;
  return constraint === undefined || (error as { constraint?: string }).constraint === constraint;
}

/**
 * The same statement may well succeed in a moment: serialization failure, deadlock, lost connection, server
 * restart, failover (25006: still connected to what is now a standby), too many connections, lock timeout,
 * a partition attached in between.
 */
export function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  if (state === null) return isConnectionError(error);
  return (
    state === '40001' ||
    state === '40P01' ||
    isLockTimeout(error) ||
    state === '25006' ||
    state === '53300' ||
    isStaleRoute(error) ||
    isConnectionError(error)
  );
}

/** A lock was not to be had within `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03';
}

/**
 * A prepared statement that this connection no longer has, or whose row type a migration changed. The
 * connection cannot run it any more, a new one can.
 */
export function isStalePreparedStatement(error: unknown): boolean {
  const state = sqlState(error);
  if (state === '26000') return true;
  return state === '0A000' && /cached plan must not change result type/.test((error as Error).message);
}

/**
 * The row was on its way to the default partition when a partition for it was attached: Postgres reports a
 * broken constraint (23514), and the same statement finds the right place the next time.
 */
export function isStaleRoute(error: unknown): boolean {
  return (
    sqlState(error) === '23514' && (error as { routine?: string }).routine === 'ExecPartitionCheckEmitError'
  );
}

/** True when the connection must not be used again after this error. */
export function spoilsConnection(error: unknown): boolean {
  const state = sqlState(error);
  // Anything but an answer of the server leaves the protocol in an unknown place.
  return state === null || isConnectionError(error) || state === '25006' || isStalePreparedStatement(error);
}
