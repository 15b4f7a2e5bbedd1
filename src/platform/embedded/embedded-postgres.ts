import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { findBinaries } from './binaries.js';
import { Cluster, type ClusterSettings } from './cluster.js';
import { DirectoryLock } from './directory-lock.js';
import { EmbeddedPostgresError, explainFileError } from './errors.js';
import { findFreePort } from './free-port.js';
import { clearOrphan } from './orphan.js';
import { type Log } from './log.js';
import { Postmaster, type LaunchOptions } from './postmaster.js';

const DATABASE = 'reach';
const LAUNCH_ATTEMPTS = 8;
const RESTART_BACKOFF_MAX_MS = 5_000;

/** A small server for one process: few sessions, little memory, nothing but what keeps a commit. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 60,
  shared_buffers: '64MB',
  synchronous_commit: 'on',
  // Each partition of each table touched by a statement without an id takes a lock.
  max_locks_per_transaction: 256,
  // /dev/shm is 64 MB in a container, and parallel plans would need it.
  max_parallel_workers_per_gather: 0,
  io_method: 'sync',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '[%p] ',
  log_checkpoints: 'off',
  // The statements that fail are reported to us anyway, and they hold the callers' payloads.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  cluster_name: 'agent-reach',
} as const;

export interface EmbeddedPostgresOptions {
  /** Where everything of this process lives (`.reach`); the server uses the folder `postgres` in it. */
  readonly dataDir: string;
  readonly logger: Log;
  /** Server settings on top of the built-in ones. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** The directory is thrown away when the server ends, also when our process is killed. For tests. */
  readonly throwAway?: boolean;
}

/** A Postgres server of our own: started with this process, ended with it, brought back when it crashes. */
export class EmbeddedPostgres {
  private stopping: Promise<void> | null = null;
  private restarting: Promise<void> | null = null;

  private constructor(
    /** Connection string of the application's database. It stays the same across restarts. */
    readonly url: string,
    private readonly launch: LaunchOptions,
    private server: Postmaster,
    private readonly lock: DirectoryLock,
  ) {
    this.supervise();
  }

  /** The pid of the server's main process, as of now. */
  get pid(): number {
    return this.server.pid;
  }

  /** Starts a server; see {@link startEmbeddedPostgres}. */
  static async start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    const binaries = await findBinaries();
    const root = await makeRoot(options.dataDir);
    const lock = await DirectoryLock.acquire(root).catch((error: unknown) => {
      throw explainFileError(error, root);
    });
    try {
      const cluster = new Cluster(root, binaries);
      const runAs = await cluster.runAs();
      const settings = await cluster.ensure(runAs);
      await clearOrphan(cluster.dataDir, options.logger);
      const launch: Omit<LaunchOptions, 'port'> = {
        binary: binaries.postgres,
        dataDir: cluster.dataDir,
        runAs,
        settings: { ...SETTINGS, ...options.settings },
        logger: options.logger,
        startSilenceMs: 120_000,
        ...(options.throwAway ? { throwAway: options.dataDir } : {}),
      };
      const { server, port } = await launchOnFreePort(launch, settings.port);
      try {
        await remember(cluster, settings, port);
      } catch (error) {
        await server.stop();
        throw explainFileError(error, root);
      }
      const url = connectionString(settings, port, DATABASE);
      return new EmbeddedPostgres(url, { ...launch, port }, server, lock);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Ends the server cleanly and gives the directory free. Safe to call twice. */
  stop(): Promise<void> {
    this.stopping ??= this.end();
    return this.stopping;
  }

  private async end(): Promise<void> {
    // A server that is just being brought back is stopped by whoever brings it.
    await this.restarting;
    await this.server.stop();
    await this.lock.release();
  }

  private supervise(): void {
    const server = this.server;
    void server.exited.then(async (reason) => {
      if (this.stopping) return;
      this.launch.logger.error({ reason }, 'The embedded Postgres ended by itself; starting it again');
      this.restarting = this.restart();
      await this.restarting;
    });
  }

  private async restart(): Promise<void> {
    for (let attempt = 0; !this.stopping; attempt++) {
      try {
        // Its backends may need a moment to notice that their parent is gone.
        if (attempt > 0)
          await wait(Math.min(50 * 2 ** attempt, RESTART_BACKOFF_MAX_MS), undefined, { ref: false });
        await clearOrphan(this.launch.dataDir, this.launch.logger);
        const server = await Postmaster.launch(this.launch);
        if (this.stopping) return await server.stop();
        this.server = server;
        this.launch.logger.info({ pid: server.pid }, 'The embedded Postgres is back');
        return this.supervise();
      } catch (error) {
        this.launch.logger.error({ err: error, attempt }, 'The embedded Postgres could not be started again');
      }
    }
  }
}

/**
 * Starts the embedded Postgres of a data directory: makes the database when there is none, takes the
 * directory's lock, ends a server left behind by a killed process, and waits until connections are accepted.
 * @throws EmbeddedPostgresError saying what is wrong and what to do
 */
export function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  return EmbeddedPostgres.start(options);
}

async function makeRoot(dataDir: string): Promise<string> {
  const root = join(dataDir, 'postgres');
  try {
    await makeDirectories(root);
    // The server's account has to pass through; what is secret in here has modes of its own.
    if (process.getuid?.() === 0) await chmod(root, 0o711);
    return await realpath(root);
  } catch (error) {
    throw explainFileError(error, root, true);
  }
}

/**
 * Makes a directory and those above it. Node's own `recursive` never returns where one is there and yet takes no
 * other (below /proc, ENOENT): it goes up and down for ever.
 */
async function makeDirectories(path: string): Promise<void> {
  const failure = await tryToMake(path);
  if (failure === undefined) return;
  if (failure.code !== 'ENOENT' || dirname(path) === path) throw failure;
  await makeDirectories(dirname(path));
  const again = await tryToMake(path);
  if (again !== undefined) throw again;
}

/** Undefined: it is there. */
async function tryToMake(path: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(path);
    return undefined;
  } catch (error) {
    const there = await stat(path).catch(() => undefined);
    return there?.isDirectory() === true ? undefined : (error as NodeJS.ErrnoException);
  }
}

async function launchOnFreePort(
  launch: Omit<LaunchOptions, 'port'>,
  remembered: number | null,
): Promise<{ server: Postmaster; port: number }> {
  let preferred = remembered;
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort(preferred);
    try {
      return { server: await Postmaster.launch({ ...launch, port }), port };
    } catch (error) {
      const fault = error instanceof EmbeddedPostgresError ? error.fault : null;
      if ((fault !== 'port_busy' && fault !== 'still_running') || attempt === LAUNCH_ATTEMPTS) throw error;
      if (fault === 'port_busy') preferred = null;
      else await wait(25 * 2 ** attempt);
    }
  }
}

async function remember(cluster: Cluster, settings: ClusterSettings, port: number): Promise<void> {
  if (settings.port === port && settings.database === DATABASE) return;
  if (settings.database !== DATABASE) {
    const client = new pg.Client({ connectionString: connectionString(settings, port, 'postgres') });
    // A server that ends meanwhile fails what was asked; without a listener it would end the process.
    client.on('error', () => undefined);
    await client.connect();
    try {
      await client.query(`CREATE DATABASE ${DATABASE}`).catch((error: unknown) => {
        // Made by a process that was killed before it could say so.
        if ((error as { code?: string }).code !== '42P04') throw error;
      });
    } finally {
      await client.end();
    }
  }
  await cluster.writeSettings({ ...settings, port, database: DATABASE });
}

function connectionString(settings: ClusterSettings, port: number, database: string): string {
  return `postgres://${settings.user}:${encodeURIComponent(settings.password)}@127.0.0.1:${port}/${database}`;
}
