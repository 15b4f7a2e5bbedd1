import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { onEnd, startServer } from './processes.mjs';

export async function temporaryDirectory(name) {
  const directory = await mkdtemp(join(tmpdir(), `reach-bench-${name}-`));
  onEnd(() => rm(directory, { recursive: true, force: true }));
  // Under root Postgres runs as another account, which has to pass through.
  await chmod(directory, 0o711);
  return directory;
}

export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}

/** A Redis without persistence (no AOF, no snapshots): the fastest that BullMQ can be given. */
export async function startRedis() {
  const port = await freePort();
  const directory = await temporaryDirectory('redis');
  const settings = ['--save', '', '--appendonly', 'no', '--loglevel', 'notice'];
  const { pid } = await startServer(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, ...settings],
    { ready: (line) => (line.includes('Ready to accept connections') ? true : undefined) },
  );
  return { pid, host: '127.0.0.1', port, url: `redis://127.0.0.1:${port}` };
}

/**
 * The Postgres of the platform package with Postgres' own defaults where speed or safety are concerned
 * (fsync, synchronous_commit, full_page_writes, shared_buffers).
 */
export async function startPostgres(dist, { statements }) {
  const module = pathToFileURL(resolve(dist, 'platform/embedded/embedded-postgres.js'));
  const { startEmbeddedPostgres } = await import(module);
  const silent = () => undefined;
  const server = await startEmbeddedPostgres({
    dataDir: await temporaryDirectory('postgres'),
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    settings: {
      shared_buffers: '128MB',
      max_connections: 100,
      ...(statements ? { shared_preload_libraries: 'pg_stat_statements' } : {}),
    },
  });
  onEnd(() => server.stop());
  return { pid: server.pid, url: server.url };
}

/** Makes a database on the server of `url`; returns its connection string. */
export async function createDatabase(url, name) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

/**
 * A dispatcher process, with `settings` of its environment. With `databaseUrl` and `redisUrl` it runs distributed, without them on its own Postgres.
 *
 * @returns its pid, its address, the connection string and pid of its Postgres, and where its inspector listens
 */
export async function startDispatcher(dist, { databaseUrl, redisUrl, inspect, settings = {} }) {
  const dataDir = await temporaryDirectory('dispatcher');
  let inspector;
  const env = {
    NODE_ENV: 'production',
    REACH_HTTP_PORT: '0',
    REACH_DATA_DIR: dataDir,
    REACH_LOG_FORMAT: 'json',
    REACH_LOG_LEVEL: 'info',
    DATABASE_URL: databaseUrl ?? '',
    REDIS_URL: redisUrl ?? '',
    REACH_OUTBOUND_LOOPBACK: 'allow',
    ...settings,
  };
  const started = performance.now();
  const args = [...(inspect ? ['--inspect=127.0.0.1:0'] : []), join(dist, 'main.js')];
  const {
    pid,
    value: url,
    end,
  } = await startServer(process.execPath, args, {
    env,
    ready: (line) => {
      inspector ??= /Debugger listening on (ws:\S+)/.exec(line)?.[1];
      if (!line.includes('"msg":"listening"')) return undefined;
      return JSON.parse(line).url;
    },
  });
  const startMs = Math.round(performance.now() - started);
  const postgres = databaseUrl ? { url: databaseUrl } : await embeddedIn(dataDir);
  return { pid, url, startMs, inspector, postgres, end };
}

async function embeddedIn(dataDir) {
  const root = join(dataDir, 'postgres');
  const { user, password, port, database } = JSON.parse(await readFile(join(root, 'settings.json'), 'utf8'));
  const pid = Number((await readFile(join(root, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const url = `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
  return { url, pid };
}
