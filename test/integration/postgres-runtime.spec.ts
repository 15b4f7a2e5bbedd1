import { Test } from '@nestjs/testing';
import { readdir, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { loadConfig } from '../../src/platform/config/config.js';
import { PlatformModule } from '../../src/platform/platform.module.js';
import { DATABASE_URL, PostgresModule } from '../../src/platform/postgres/postgres.module.js';
import { Sql } from '../../src/platform/postgres/sql.js';
import { LOCK_SPACE, LOCKS } from '../../src/platform/postgres/advisory-locks.js';
import { PostgresRuntime, type PostgresConfig } from '../../src/platform/postgres/postgres-runtime.js';
import { SecondReplica, SingleReplicaLock } from '../../src/platform/postgres/single-replica.js';
import {
  createTestDatabase,
  newDataDir,
  type PrivatePostgres,
  silentLogger as log,
  startPrivatePostgres,
} from '../support/postgres.js';

const BASE = {
  replicaId: 'test',
  postgresPoolSize: 4,
  postgresConnectTimeoutMs: 3_000,
  postgresStatementTimeoutMs: 10_000,
  retentionDays: 30,
};
const QUIET = { log: () => undefined, warn: () => undefined, error: () => undefined };
const unexpected = (): void => {
  throw new Error('lost');
};

describe('Postgres of a replica', () => {
  it('starts on the embedded server with the schema and today’s partitions, and ends it', async () => {
    const dataDir = await newDataDir();
    const config: PostgresConfig = { ...BASE, dataDir, databaseUrl: undefined, redisUrl: undefined };
    const runtime = await PostgresRuntime.start(config, log, unexpected);
    const partitions = `SELECT count(*) AS count FROM pg_inherits WHERE inhparent = 'tasks'::regclass`;
    expect(await runtime.dataSource.query(partitions)).toEqual([{ count: 6 }]);
    await expect(PostgresRuntime.start(config, log, unexpected)).rejects.toThrow('in use by this process');
    await runtime.closePools();
    await runtime.stopEngine();
    await rm(dataDir, { recursive: true });
  });

  it('lets five replicas with Redis start on one empty database', async () => {
    const database = await createTestDatabase({ migrated: false });
    const config = { ...BASE, dataDir: '', databaseUrl: database.url, redisUrl: 'redis://127.0.0.1' };
    const runtimes = await Promise.all(
      Array.from({ length: 5 }, () => PostgresRuntime.start(config, log, unexpected)),
    );
    await Promise.all(runtimes.map((runtime) => runtime.closePools()));
    await database.drop();
  });

  it('refuses a database whose commits are not durable', async () => {
    const database = await createTestDatabase();
    const name = new URL(database.url).pathname.slice(1);
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    await admin.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    await admin.end();
    const config = { ...BASE, dataDir: '', databaseUrl: database.url, redisUrl: undefined };
    await expect(PostgresRuntime.start(config, log, unexpected)).rejects.toThrow('synchronous_commit=off');
    await database.drop();
  });
});

describe('PostgresModule', () => {
  it('hands out the database, and closes it in the order of the shutdown', async () => {
    const dataDir = await newDataDir();
    const config = loadConfig({ REACH_DATA_DIR: dataDir });
    const app = await Test.createTestingModule({ imports: [PlatformModule.of(config), PostgresModule] })
      .setLogger(QUIET)
      .compile();
    const { rows } = await app.get(Sql).run('one', 'SELECT 1 AS one');
    expect(rows).toEqual([{ one: 1 }]);
    expect(app.get(DataSource).isInitialized).toBe(true);
    expect(app.get<string>(DATABASE_URL)).toMatch(/^postgres:\/\/reach:.*@127\.0\.0\.1:\d+\/reach$/);
    await app.close();
    expect(await readdir(join(dataDir, 'postgres'))).toEqual(['data', 'settings.json']);
    await rm(dataDir, { recursive: true });
  });
});

describe('the lock of the only replica', () => {
  let server: PrivatePostgres;

  beforeAll(async () => {
    server = await startPrivatePostgres();
  });

  afterAll(() => server.stop());

  const acquire = (onLost = unexpected): Promise<SingleReplicaLock> =>
    SingleReplicaLock.acquire({ url: server.url, waitMs: 0, log, onLost });

  it('keeps a second replica out and says why, until it is released', async () => {
    const lock = await acquire();
    await expect(acquire()).rejects.toThrow(/Without Redis there can only be one/);
    await lock.release();
    await (await acquire()).release();
  });

  it('waits for a predecessor on its way out', async () => {
    const lock = await acquire();
    const next = SingleReplicaLock.acquire({ url: server.url, waitMs: 5_000, log, onLost: unexpected });
    await lock.release();
    await (await next).release();
  });

  it('takes the lock again after a restart of the server', async () => {
    const lock = await acquire();
    await server.restart();
    await untilHeld();
    await expect(acquire()).rejects.toThrow(SecondReplica);
    await lock.release();
  });

  it('says so when another replica took its place meanwhile', async () => {
    const cable = await Cable.to(Number(new URL(server.url).port));
    let lost = (): void => undefined;
    const wasLost = new Promise<void>((resolve) => (lost = resolve));
    const url = server.url.replace(/:\d+\//, `:${cable.port}/`);
    const lock = await SingleReplicaLock.acquire({ url, waitMs: 0, log, onLost: lost });
    await cable.cut();
    const thief = await SingleReplicaLock.acquire({
      url: server.url,
      waitMs: 5_000,
      log,
      onLost: unexpected,
    });
    await cable.mend();
    await wasLost;
    await lock.release();
    await thief.release();
    await cable.cut();
  });

  /** Resolves when somebody holds the lock; looks only, since taking it would shut the owner out. */
  async function untilHeld(): Promise<void> {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    for (;;) {
      const { rowCount } = await client.query(
        `SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = $1 AND objid = $2`,
        [LOCK_SPACE, LOCKS.singleReplica],
      );
      if (rowCount === 1) break;
    }
    await client.end();
  }
});

/** A way to the server that can be cut and mended. */
class Cable {
  private constructor(
    private readonly server: Server,
    private readonly sockets: ReadonlySet<Socket>,
    readonly port: number,
  ) {}

  static async to(target: number): Promise<Cable> {
    const sockets = new Set<Socket>();
    const server = createServer((near) => {
      const far = connect(target, '127.0.0.1');
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(one);
        one.on('error', () => other.destroy()).on('close', () => other.destroy());
        one.pipe(other);
      }
    });
    await listening(server, 0);
    return new Cable(server, sockets, (server.address() as AddressInfo).port);
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  mend(): Promise<void> {
    return listening(this.server, this.port);
  }
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
}
