import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type * as Embedded from '../../../src/platform/embedded/embedded-postgres.js';

/** The ledger's server as the nemesis and the checker see it. */
export interface PostgresUnderTest {
  /** Connection string, past every proxy. */
  readonly url: string;
  /** The server's main process, as of now. */
  pid(): Promise<number>;
  stop(): Promise<void>;
}

const silent = () => undefined;
/** The directory goes with the run, and a killed process loses nothing that the kernel has. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', shared_buffers: '64MB', max_connections: 100 };

/** A server of the run's own; it is brought back when it is killed. */
export async function startPostgres(dataDir: string): Promise<PostgresUnderTest> {
  const at = new URL('../platform/embedded/embedded-postgres.js', import.meta.url);
  const { startEmbeddedPostgres } = (await import(at.href)) as typeof Embedded;
  const logger = { debug: silent, info: silent, warn: silent, error: silent };
  const server = await startEmbeddedPostgres({
    dataDir,
    logger,
    settings: SETTINGS,
    throwAway: true,
  });
  return { url: server.url, pid: async () => server.pid, stop: () => server.stop() };
}

/** The server that a dispatcher in embedded mode runs in its data directory; it ends with it. */
export async function postgresOf(dataDir: string): Promise<PostgresUnderTest> {
  const root = join(dataDir, 'postgres');
  const settings = JSON.parse(await readFile(join(root, 'settings.json'), 'utf8')) as Record<string, string>;
  const { user, password = '', port, database } = settings;
  const pid = async (): Promise<number> =>
    Number((await readFile(join(root, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  return {
    url: `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`,
    pid,
    stop: async () => undefined,
  };
}

/** Runs `work` on a connection of its own, again until the server is there. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
    client.on('error', silent);
    try {
      await client.connect();
      return await work(client);
    } catch (error) {
      if (attempt === 60) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    } finally {
      await client.end().catch(silent);
    }
  }
}
