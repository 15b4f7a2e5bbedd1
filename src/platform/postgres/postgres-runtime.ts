import { type DataSource } from 'typeorm';
import { type Config } from '../config/config.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded/embedded-postgres.js';
import { type Log } from '../embedded/log.js';
import { StartError } from '../lifecycle/start-error.js';
import { createDataSource, pgPoolOf } from './data-source.js';
import { loadMigrations } from './migrations-list.js';
import { migrate } from './migrator.js';
import { PartitionKeeper, RETAINED } from './partition-keeper.js';
import { Partitions } from './partitions.js';
import { persist } from './patient-client.js';
import { SingleReplicaLock } from './single-replica.js';
import { Sql } from './sql.js';

export type PostgresConfig = Pick<
  Config,
  | 'dataDir'
  | 'databaseUrl'
  | 'redisUrl'
  | 'replicaId'
  | 'postgresPoolSize'
  | 'postgresConnectTimeoutMs'
  | 'postgresStatementTimeoutMs'
  | 'retentionDays'
>;

const PREDECESSOR_MS = 5_000;
/** A server that answered once may be restarted; this is how long it may take to answer again. */
const ANSWERS_WITHIN_MS = 120_000;
const DAYS_AHEAD = 3;
const KEEP_EVERY_MS = 3_600_000;
const OLDEST_SERVER = 140_000;

/** Everything of Postgres that a replica holds, in the order in which it was taken. */
export class PostgresRuntime {
  private engine: EmbeddedPostgres | null = null;
  private lock: SingleReplicaLock | null = null;
  private keeper: PartitionKeeper | null = null;
  private source: DataSource | null = null;
  private connection = '';

  private constructor(
    private readonly config: PostgresConfig,
    private readonly log: Log,
  ) {}

  /** Connection string of the database in use. Secret: it holds the password. */
  get url(): string {
    return this.connection;
  }

  get dataSource(): DataSource {
    if (!this.source) throw new Error('Postgres is not started');
    return this.source;
  }

  /**
   * Starts the embedded server unless a database is configured, makes sure to be the only replica where only
   * one may be, migrates, and opens the pool. What was started is stopped again when a later step fails.
   *
   * @param onLost called when another replica took this one's place while the database was away
   */
  static async start(config: PostgresConfig, log: Log, onLost: () => void): Promise<PostgresRuntime> {
    const runtime = new PostgresRuntime(config, log);
    try {
      await runtime.open(onLost);
      return runtime;
    } catch (error) {
      await runtime.closePools();
      await runtime.stopEngine();
      throw error;
    }
  }

  /** Closes the pool and gives up the lock. */
  async closePools(): Promise<void> {
    await this.keeper?.stop();
    if (this.source?.isInitialized) await this.source.destroy();
    await this.lock?.release();
  }

  /** Stops the embedded server, if it is ours. */
  async stopEngine(): Promise<void> {
    await this.engine?.stop();
  }

  private async open(onLost: () => void): Promise<void> {
    const { config, log } = this;
    if (config.databaseUrl === undefined) {
      this.engine = await startEmbeddedPostgres({ dataDir: config.dataDir, logger: log });
    }
    this.connection = config.databaseUrl ?? this.engine?.url ?? '';
    const url = this.connection;
    if (config.redisUrl === undefined) {
      this.lock = await SingleReplicaLock.acquire({ url, waitMs: PREDECESSOR_MS, log, onLost });
    }
    const { MIGRATIONS, PARTITIONED_TABLES } = await loadMigrations();
    await migrate({ url, migrations: MIGRATIONS, logger: log });
    const deadline = performance.now() + ANSWERS_WITHIN_MS;
    this.source = await persist('the pool was being opened', deadline, log, () => this.openPool(url));
    const sql = new Sql(pgPoolOf(this.source));
    this.keeper = new PartitionKeeper(new Partitions(sql, log), {
      tables: PARTITIONED_TABLES.map((table) => ({ table, ...keepWhile(table) })),
      retentionDays: config.retentionDays,
      daysAhead: DAYS_AHEAD,
      everyMs: KEEP_EVERY_MS,
      rng: Math.random,
      log,
    });
    const { keeper } = this;
    await persist('partitions were being made', deadline, log, () => keeper.start());
  }

  private async openPool(url: string): Promise<DataSource> {
    const { config } = this;
    const source = createDataSource({
      url,
      poolSize: config.postgresPoolSize,
      connectTimeoutMs: config.postgresConnectTimeoutMs,
      statementTimeoutMs: config.postgresStatementTimeoutMs,
      applicationName: `agent-reach ${config.replicaId}`,
      logger: this.log,
    });
    try {
      await source.initialize();
      await checkServer(new Sql(pgPoolOf(source)));
      return source;
    } catch (error) {
      if (source.isInitialized) await source.destroy();
      throw error;
    }
  }
}

function keepWhile(table: string): { keepWhile?: string } {
  const condition = RETAINED[table];
  return condition === undefined ? {} : { keepWhile: condition };
}

/** What the ledger is promised on has to be true of somebody else's server too. */
async function checkServer(sql: Sql): Promise<void> {
  const { rows } = await sql.run<{ version: number; commit: string }>(
    'server-check',
    `SELECT current_setting('server_version_num')::int AS version,
            current_setting('synchronous_commit') AS commit`,
  );
  const { version, commit } = rows[0] ?? { version: 0, commit: 'off' };
  if (version < OLDEST_SERVER) {
    throw new StartError(
      `Postgres ${Math.floor(version / 10_000)} is too old; 14 is the oldest that will do.`,
    );
  }
  if (commit === 'off') {
    throw new StartError(
      'Postgres runs with synchronous_commit=off: tasks it has accepted would be lost in a crash. ' +
        'Turn it on for this database: ALTER DATABASE ... SET synchronous_commit = on',
    );
  }
}
