import pg, { type PoolClient, type PoolConfig } from 'pg';
import { DataSource, type Logger as TypeOrmLogger } from 'typeorm';
import { type Log } from '../embedded/log.js';
import { type PgPool } from './sql.js';

export interface DataSourceSettings {
  readonly url: string;
  /** More than about 8 busy connections make Postgres slower, not faster. */
  readonly poolSize: number;
  /** Longest wait for a connection: a free one of the pool, or a new one. */
  readonly connectTimeoutMs: number;
  /** Longest run of a statement on the server; 0 means without limit (migrations). */
  readonly statementTimeoutMs: number;
  /** Longest wait of a statement for a lock; 0 or absent means as long as the statement may run. */
  readonly lockTimeoutMs?: number;
  /** Seen in pg_stat_activity. */
  readonly applicationName: string;
  readonly migrations?: readonly (new () => object)[];
  readonly logger: Pick<Log, 'warn'>;
}

/** How much longer than the server we wait for an answer, before the connection counts as dead. */
const ANSWER_GRACE_MS = 2_000;
const IDLE_TIMEOUT_MS = 60_000;
const INT8_OID = 20;
/**
 * Every hot statement finds a few rows by key in daily partitions. A generic plan made while a partition is new and
 * empty (no statistics yet) likes to read all of a partial index, or all of the table, and is kept while the
 * partition fills (measured: 270 us a row against 40). Nested loops over indexes are the one plan whose cost does
 * not depend on statistics. Statements that update by key also hide their state guard from the proof that a
 * partial index would do.
 */
const PLANNER =
  'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_material = off';

/**
 * A TypeORM data source (not yet initialised) whose pool bounds every wait and survives every restart of
 * the server: a dead connection is a warning and a new connection, never an uncaught error.
 */
export function createDataSource(settings: DataSourceSettings): DataSource {
  const { logger, statementTimeoutMs } = settings;
  // The server's own limit does not help when the server is frozen or the cable is cut.
  const answerTimeoutMs = statementTimeoutMs === 0 ? 0 : statementTimeoutMs + ANSWER_GRACE_MS;
  const extra: PoolConfig & { onConnect: (client: PoolClient) => void } = {
    max: settings.poolSize,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    query_timeout: answerTimeoutMs,
    lock_timeout: settings.lockTimeoutMs ?? 0,
    idle_in_transaction_session_timeout: answerTimeoutMs,
    keepAlive: true,
    application_name: settings.applicationName,
    types: { getTypeParser: typeParser },
    onConnect(client) {
      // While a connection is handed out the pool does not listen; an error without a listener ends the process.
      client.on('error', (error) => logger.warn({ err: error }, 'A Postgres connection broke'));
      client
        .query(PLANNER)
        .catch((error: unknown) => logger.warn({ err: error }, 'The planner was not set up'));
    },
  };
  return new DataSource({
    type: 'postgres',
    url: settings.url,
    extra,
    logger: typeOrmLogger(logger),
    installExtensions: false,
    migrations: [...(settings.migrations ?? [])],
    migrationsTableName: 'schema_migrations',
    migrationsTransactionMode: 'each',
    poolErrorHandler: (error: unknown) => logger.warn({ err: error }, 'An idle Postgres connection broke'),
  });
}

/** The node-postgres pool of an initialised data source. */
export function pgPoolOf(dataSource: DataSource): PgPool {
  return (dataSource.driver as unknown as { master: PgPool }).master;
}

/** TypeORM writes to the console even when told not to log; what fails is thrown anyway. */
function typeOrmLogger(logger: Pick<Log, 'warn'>): TypeOrmLogger {
  const nothing = (): void => undefined;
  return {
    logQuery: nothing,
    logQueryError: nothing,
    logQuerySlow: nothing,
    logSchemaBuild: nothing,
    logMigration: nothing,
    log: (level, message) => {
      if (level === 'warn') logger.warn({ component: 'typeorm' }, String(message));
    },
  };
}

/** As usual, but bigint is a number: counts and revisions stay far below 2^53. */
function typeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === INT8_OID) return Number;
  return pg.types.getTypeParser(oid, format) as (value: string) => unknown;
}
