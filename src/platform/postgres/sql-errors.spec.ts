import {
  isConnectionError,
  isDataError,
  isRetryable,
  isStalePreparedStatement,
  isUniqueViolation,
  spoilsConnection,
  sqlState,
} from './sql-errors.js';

const server = (code: string, message = ''): Error =>
  Object.assign(new Error(message), { code, severity: 'ERROR' });
const socket = (code: string): Error => Object.assign(new Error(code), { code });

describe('what a failed statement means', () => {
  it.each([
    // error, connection, data, retryable, spoils the connection
    [server('08006'), true, false, true, true],
    [server('57P01'), true, false, true, true],
    [server('57P03'), true, false, true, true],
    [server('40001'), false, false, true, false],
    [server('40P01'), false, false, true, false],
    [server('53300'), false, false, true, false],
    [server('25006'), false, false, true, true],
    [server('22P05'), false, true, false, false],
    [server('23505'), false, true, false, false],
    [Object.assign(server('23514'), { routine: 'ExecPartitionCheckEmitError' }), false, false, true, false],
    [server('P0001'), false, true, false, false],
    [server('57014'), false, false, false, false],
    [server('42601'), false, false, false, false],
    [socket('ECONNRESET'), true, false, true, true],
    [socket('ECONNREFUSED'), true, false, true, true],
    [new AggregateError([socket('ECONNREFUSED'), socket('ECONNREFUSED')]), true, false, true, true],
    [new Error('Connection terminated unexpectedly'), true, false, true, true],
    [new Error('timeout exceeded when trying to connect'), true, false, true, true],
    [new Error('Query read timeout'), true, false, true, true],
    [new TypeError('cyclic'), false, false, false, true],
    // A five-letter code that is no SQLSTATE.
    [socket('EPIPE'), true, false, true, true],
  ])('%o', (error, connection, data, retryable, spoils) => {
    expect([
      isConnectionError(error),
      isDataError(error),
      isRetryable(error),
      spoilsConnection(error),
    ]).toEqual([connection, data, retryable, spoils]);
  });

  it('takes anything for an error', () => {
    for (const value of [null, undefined, 'text', 7, {}]) {
      expect(sqlState(value)).toBeNull();
      expect(isRetryable(value)).toBe(false);
      expect(isDataError(value)).toBe(false);
    }
  });

  it('knows the constraint of a unique violation', () => {
    const error = Object.assign(server('23505'), { constraint: 'tasks_pkey' });
    expect(isUniqueViolation(error)).toBe(true);
    expect(isUniqueViolation(error, 'tasks_pkey')).toBe(true);
    expect(isUniqueViolation(error, 'other')).toBe(false);
    expect(isUniqueViolation(server('23503'))).toBe(false);
  });

  it('knows a prepared statement that a migration made stale', () => {
    expect(isStalePreparedStatement(server('0A000', 'cached plan must not change result type'))).toBe(true);
    expect(isStalePreparedStatement(server('0A000', 'something else'))).toBe(false);
    expect(isStalePreparedStatement(server('26000'))).toBe(true);
  });
});
