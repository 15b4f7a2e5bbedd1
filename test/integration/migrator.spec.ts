import pg from 'pg';
import { LOCK_SPACE, LOCKS } from '../../src/platform/postgres/advisory-locks.js';
import { loadMigrations } from '../../src/platform/postgres/migrations-list.js';
import { migrate } from '../../src/platform/postgres/migrator.js';
import { createTestDatabase, silentLogger, type TestDatabase } from '../support/postgres.js';

describe('migrator', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase({ migrated: false });
  });

  afterEach(() => database.drop());

  it('runs each migration once when five replicas start on an empty database', async () => {
    const { MIGRATIONS } = await loadMigrations();
    const options = { url: database.url, migrations: MIGRATIONS, logger: silentLogger };
    const ran = await Promise.all(Array.from({ length: 5 }, () => migrate(options)));

    expect(ran.flat().sort()).toEqual(MIGRATIONS.map(({ name }) => name).sort());
    expect(ran.filter((names) => names.length > 0)).toHaveLength(1);
    expect(await migrate(options)).toEqual([]);
  });

  it('names the session that holds the lock for too long', async () => {
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock($1, $2)', [LOCK_SPACE, LOCKS.migrations]);
    const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');

    const attempt = migrate({ url: database.url, migrations: [], logger: silentLogger, waitMs: 0 });
    await expect(attempt).rejects.toThrow(`server process ${rows[0]?.pid}`);
    await holder.end();
  });

  it('leaves nothing of a migration that fails, and runs it again next time', async () => {
    class Broken1000000000000 {
      name = 'Broken1000000000000';
      static sound = false;
      async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
        await runner.query('CREATE TABLE half (id int)');
        if (!Broken1000000000000.sound) await runner.query('SELECT nonsense');
      }
    }
    const options = { url: database.url, migrations: [Broken1000000000000], logger: silentLogger };
    await expect(migrate(options)).rejects.toThrow('nonsense');
    Broken1000000000000.sound = true;
    expect(await migrate(options)).toEqual(['Broken1000000000000']);
  });

  it('goes on when the connections are cut while it migrates', async () => {
    const cutter = new pg.Client({ connectionString: database.url });
    await cutter.connect();
    let runs = 0;
    class Cut1000000000001 {
      name = 'Cut1000000000001';
      async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
        await runner.query('CREATE TABLE whole (id int)');
        runs += 1;
        if (runs === 1)
          await cutter.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE pid <> pg_backend_pid() AND datname = current_database()`,
          );
        await runner.query('INSERT INTO whole VALUES (1)');
      }
    }
    const options = { url: database.url, migrations: [Cut1000000000001], logger: silentLogger };
    expect(await migrate(options)).toEqual(['Cut1000000000001']);
    expect(runs).toBe(2);
    await cutter.end();
  });

  it('says so when Postgres does not answer in time', async () => {
    const url = 'postgres://reach:x@127.0.0.1:1/reach';
    await expect(migrate({ url, migrations: [], logger: silentLogger, waitMs: 0 })).rejects.toThrow(
      /Postgres does not answer: .*ECONNREFUSED/,
    );
  });
});
