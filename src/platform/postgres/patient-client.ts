import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { type Log } from '../embedded/log.js';
import { StartError } from '../lifecycle/start-error.js';
import { isConnectionError, isRefusal, isRetryable } from './sql-errors.js';

/** No answer from Postgres within the time given. */
export class PostgresUnreachable extends StartError {
  override readonly name = 'PostgresUnreachable';
}

/** Postgres answers, and does not let us in. */
export class PostgresRefuses extends StartError {
  override readonly name = 'PostgresRefuses';
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * One connection outside of the pool, for as long as a session matters (advisory locks). Waits for a server
 * that is not up yet, until `deadlineMs` of the monotonic clock; a wrong password or database fails at once.
 * @throws PostgresUnreachable or PostgresRefuses
 */
export async function connectPatiently(
  url: string,
  applicationName: string,
  deadlineMs: number,
  log: Pick<Log, 'warn'>,
): Promise<pg.Client> {
  for (let attempt = 0; ; attempt++) {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: applicationName,
      keepAlive: true,
    });
    // Without a listener a broken connection would end the process; what used it fails by itself.
    client.on('error', (error) => log.warn({ err: error }, `The connection of the ${applicationName} broke`));
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (isRefusal(error))
        throw new PostgresRefuses(
          `Postgres refuses the connection: ${reason(error)}. Is DATABASE_URL right?`,
          { cause: error },
        );
      if (!isConnectionError(error)) throw error;
      if (performance.now() >= deadlineMs) {
        throw new PostgresUnreachable(
          `Postgres does not answer: ${reason(error)}. Is DATABASE_URL right, and the server running?`,
          { cause: error },
        );
      }
      if (attempt === 0) log.warn({ reason: reason(error) }, 'Postgres does not answer yet; waiting for it');
      await wait(Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS));
    }
  }
}

/**
 * A step of the start: begun again when the server goes away under it, or asks to be asked later, until
 * `deadlineMs` of the monotonic clock. A server that restarts while we start must not end us.
 * @param step safe to begin again; leaves nothing open when it fails
 * @throws what `step` throws otherwise, or still throws at the deadline
 */
export async function persist<T>(
  what: string,
  deadlineMs: number,
  log: Pick<Log, 'warn'>,
  step: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await step();
    } catch (error) {
      if (!isRetryable(error) || performance.now() >= deadlineMs) throw error;
      log.warn({ reason: reason(error) }, `Postgres went away: ${what}; trying again`);
      await wait(Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS));
    }
  }
}

function reason(error: unknown): string {
  const { message, errors } = error as Partial<AggregateError>;
  return message || errors?.map((inner) => String((inner as Error).message)).join(', ') || String(error);
}
