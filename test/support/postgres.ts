import { randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import pino from 'pino';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/platform/embedded/embedded-postgres.js';
import { ownIdentity, type ProcessIdentity } from '../../src/platform/embedded/process-identity.js';
import { createDataSource, pgPoolOf } from '../../src/platform/postgres/data-source.js';
import { loadMigrations } from '../../src/platform/postgres/migrations-list.js';
import { migrate } from '../../src/platform/postgres/migrator.js';
import { Sql } from '../../src/platform/postgres/sql.js';

/**
 * Real Postgres for tests; DATABASE_URL in the environment is never touched.
 *
 * Each jest worker process has one server, started by the first suite that asks, and shared by the suites
 * that follow in it. A pipe ties the server to the process: however that ends, SIGKILL included, a
 * watchdog stops the server and removes its directory. Nothing has to be set up or torn down in jest's
 * configuration, and a run of pure unit tests starts nothing.
 */

export const silentLogger = pino({ level: 'silent' });

/** For data that goes with the test: no waiting for the disk. A killed process still loses nothing. */
const FAST = { fsync: 'off', full_page_writes: 'off', shared_buffers: '32MB', max_connections: 100 } as const;
const TEMPLATE = 'reach_template';

export interface TestDatabase {
  /** Connection string of a database of its own, migrated. */
  readonly url: string;
  /** Removes it; connections still open are cut. */
  drop(): Promise<void>;
}

/** A fresh database for one suite, a copy of a migrated template (about 40 ms). */
export async function createTestDatabase(options: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const server = await sharedServer();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = options.migrated === false ? 'template1' : TEMPLATE;
  await administer(server.url, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return {
    url: withDatabase(server.url, name),
    drop: () => administer(server.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

export interface TestSql {
  readonly sql: Sql;
  close(): Promise<void>;
}

/** A pool like the application's on a database of {@link createTestDatabase}. */
export async function openSql(url: string, poolSize = 5, statementTimeoutMs = 10_000): Promise<TestSql> {
  const dataSource = createDataSource({
    url,
    poolSize,
    connectTimeoutMs: 5_000,
    statementTimeoutMs,
    applicationName: 'agent-reach test',
    logger: silentLogger,
  });
  await dataSource.initialize();
  return { sql: new Sql(pgPoolOf(dataSource)), close: () => dataSource.destroy() };
}

interface SharedServer extends ProcessIdentity {
  readonly url: string;
}

let shared: Promise<SharedServer> | undefined;

/** Suites of one worker share the process but not their modules: they find each other by the pid. */
function sharedServer(): Promise<SharedServer> {
  shared ??= (async () => {
    const dataDir = join(tmpdir(), `agent-reach-test-worker-${process.pid}`);
    const file = join(dataDir, 'server.json');
    const own = ownIdentity();
    const known = await readFile(file, 'utf8').then(
      (text) => JSON.parse(text) as SharedServer,
      () => null,
    );
    if (known?.startedAt === own.startedAt) return known;
    await rm(dataDir, { recursive: true, force: true });
    await newDataDir(dataDir);
    const server = await startEmbeddedPostgres({
      dataDir,
      logger: silentLogger,
      settings: FAST,
      throwAway: true,
    });
    await administer(server.url, `CREATE DATABASE ${TEMPLATE}`);
    const { MIGRATIONS } = await loadMigrations();
    await migrate({ url: withDatabase(server.url, TEMPLATE), migrations: MIGRATIONS, logger: silentLogger });
    const found: SharedServer = { ...own, url: server.url };
    await writeFile(file, JSON.stringify(found), { mode: 0o600 });
    return found;
  })();
  return shared;
}

/** A server of one suite's own, to be broken by it. */
export class PrivatePostgres {
  private constructor(
    readonly dataDir: string,
    private server: EmbeddedPostgres,
  ) {}

  static async start(): Promise<PrivatePostgres> {
    const dataDir = await newDataDir();
    return new PrivatePostgres(dataDir, await startIn(dataDir));
  }

  /** Connection string of the (empty) database `reach`; it stays the same across restarts. */
  get url(): string {
    return this.server.url;
  }

  get pid(): number {
    return this.server.pid;
  }

  /** Brings the schema up to date. */
  async migrate(): Promise<void> {
    const { MIGRATIONS } = await loadMigrations();
    await migrate({ url: this.url, migrations: MIGRATIONS, logger: silentLogger });
  }

  /** Shuts the server down and leaves it down until {@link start}. */
  async shutDown(): Promise<void> {
    await this.server.stop();
  }

  /** Starts it again after {@link shutDown}, at the same address. */
  async startAgain(): Promise<void> {
    this.server = await startIn(this.dataDir);
  }

  /** A clean restart. */
  async restart(): Promise<void> {
    await this.shutDown();
    await this.startAgain();
  }

  /** SIGKILL to the server's main process; it is brought back by its supervisor. Resolves when it is. */
  async kill9(): Promise<void> {
    const before = this.pid;
    process.kill(before, 'SIGKILL');
    for (;;) {
      await this.whenAnswering();
      if (this.pid !== before) return;
    }
  }

  /** Freezes the server and its sessions: connections stay open and nothing answers. */
  pause(): void {
    for (const pid of this.processes()) process.kill(pid, 'SIGSTOP');
  }

  /** Undoes {@link pause}. */
  resume(): void {
    for (const pid of this.processes()) process.kill(pid, 'SIGCONT');
  }

  /** Cuts every connection but our own; returns how many. */
  async terminateConnections(): Promise<number> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      const { rowCount } = await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`,
      );
      return rowCount ?? 0;
    } finally {
      await client.end();
    }
  }

  /** Resolves when the server accepts connections. */
  async whenAnswering(): Promise<void> {
    for (;;) {
      const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: 2_000 });
      client.on('error', () => undefined);
      const up = await client.connect().then(
        () => true,
        () => false,
      );
      await client.end().catch(() => undefined);
      if (up) return;
    }
  }

  /** Ends the server and removes its directory. */
  async stop(): Promise<void> {
    await this.server.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  private processes(): number[] {
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(this.pid)], { encoding: 'utf8' });
    return [this.pid, ...children.trim().split(/\s+/).map(Number)];
  }
}

/** Starts a {@link PrivatePostgres}. */
export function startPrivatePostgres(): Promise<PrivatePostgres> {
  return PrivatePostgres.start();
}

function startIn(dataDir: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir, logger: silentLogger, settings: FAST, throwAway: true });
}

/** A directory with a server's files in it, copied from one made once for this machine (80 ms, not 1 s). */
export async function newDataDir(at?: string): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('embedded-postgres');
  const manifest = readFileSync(join(dirname(dirname(entry)), 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const cache = join(tmpdir(), `agent-reach-test-cluster-${process.getuid?.() ?? 0}-${version}`);
  const present = await readFile(join(cache, 'ready'), 'utf8').catch(() => null);
  if (present === null) await fillCache(cache);
  const dataDir = at ?? (await mkdtemp(join(tmpdir(), 'agent-reach-test-')));
  if (at !== undefined) await mkdir(at);
  // Under root the server runs as another account, which has to pass through.
  await chmod(dataDir, 0o711);
  copyTree(join(cache, 'postgres'), join(dataDir, 'postgres'));
  // Each one finds a port of its own; else all would want the same, and lose it to each other on a restart.
  const settings = join(dataDir, 'postgres', 'settings.json');
  const known = JSON.parse(await readFile(settings, 'utf8')) as object;
  await writeFile(settings, JSON.stringify({ ...known, port: null }));
  return dataDir;
}

async function fillCache(cache: string): Promise<void> {
  const draft = await mkdtemp(`${cache}-`);
  await chmod(draft, 0o711);
  const server = await startEmbeddedPostgres({ dataDir: draft, logger: silentLogger });
  await server.stop();
  await writeFile(join(draft, 'ready'), '');
  // Another worker may have been faster; then its copy is as good as ours.
  await rename(draft, cache).catch(() => rm(draft, { recursive: true, force: true }));
}

function copyTree(from: string, to: string): void {
  // cp keeps owners, which the server insists on; fs.cp does not.
  execFileSync('cp', ['-a', from, to]);
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
