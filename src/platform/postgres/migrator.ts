import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { type Log } from '../embedded/log.js';
import { StartError } from '../lifecycle/start-error.js';
import { LOCK_SPACE, LOCKS } from './advisory-locks.js';
import { createDataSource } from './data-source.js';
import { type MigrationClass } from './migrations-list.js';
import { connectPatiently, persist } from './patient-client.js';

export interface MigrateOptions {
  readonly url: string;
  readonly migrations: readonly MigrationClass[];
  readonly logger: Pick<Log, 'info' | 'warn'>;
  /** Longest wait for the database to answer and for another replica's migration to end. */
  readonly waitMs?: number;
}

/** Another replica's migration took too long. */
export class MigrationError extends StartError {
  override readonly name = 'MigrationError';
}

const DEFAULT_WAIT_MS = 120_000;
const POLL_MS = 100;
const CONNECT_TIMEOUT_MS = 5_000;
/** A migration that waits for a table holds up everybody behind it; better that it fails and is run again. */
const LOCK_TIMEOUT_MS = 15_000;

/**
 * Brings the schema up to date; any number of replicas may call this at the same time, each migration runs
 * once. Each one is its own transaction. Returns the names of those that ran here.
 * @throws PostgresUnreachable or MigrationError when the database or another replica takes longer than `waitMs`;
 *   the error of a migration itself as it is
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const deadline = performance.now() + (options.waitMs ?? DEFAULT_WAIT_MS);
  return persist('the database was being migrated', deadline, options.logger, () =>
    migrateOnce(options, deadline),
  );
}

async function migrateOnce(options: MigrateOptions, deadline: number): Promise<string[]> {
  const lock = await connectPatiently(options.url, 'agent-reach migrator', deadline, options.logger);
  try {
    await takeLock(lock, options, deadline);
    return await runMigrations(options);
  } finally {
    // Ending the session is what gives the lock back, on every path.
    await lock.end().catch(() => undefined);
  }
}

/**
 * Asks again and again instead of waiting inside the server: a statement that waits holds a snapshot, and
 * a migration that builds an index concurrently waits for every snapshot, so the two would wait for each
 * other for ever.
 */
async function takeLock(client: pg.Client, options: MigrateOptions, deadline: number): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS taken', [
      LOCK_SPACE,
      LOCKS.migrations,
    ]);
    if (rows[0]?.taken) return;
    if (attempt === 0) options.logger.info({}, 'Another replica is migrating the database; waiting for it');
    if (performance.now() >= deadline) {
      throw new MigrationError(
        `Another process holds the migration lock for too long (${await holder(client)}). ` +
          'Wait for it, or end its session with pg_terminate_backend.',
      );
    }
    await wait(POLL_MS);
  }
}

async function holder(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; addr: string | null; since: string }>(
    `SELECT a.pid, host(a.client_addr) AS addr, a.backend_start::text AS since
       FROM pg_locks l JOIN pg_stat_activity a USING (pid)
      WHERE l.locktype = 'advisory' AND l.granted AND l.classid = $1 AND l.objid = $2
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [LOCK_SPACE, LOCKS.migrations],
  );
  const found = rows[0];
  return found
    ? `server process ${found.pid} of ${found.addr ?? 'a local client'} since ${found.since}`
    : 'gone';
}

async function runMigrations(options: MigrateOptions): Promise<string[]> {
  const dataSource = createDataSource({
    url: options.url,
    poolSize: 1,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    // An index over a big table takes as long as it takes.
    statementTimeoutMs: 0,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    applicationName: 'agent-reach migrations',
    migrations: options.migrations,
    logger: options.logger,
  });
  try {
    await dataSource.initialize();
    const done = await dataSource.runMigrations();
    const names = done.map(({ name }) => name);
    if (names.length > 0) options.logger.info({ migrations: names }, 'Database migrated');
    return names;
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}
