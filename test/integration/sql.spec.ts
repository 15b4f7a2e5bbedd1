import { isConnectionError, isUniqueViolation } from '../../src/platform/postgres/sql-errors.js';
import {
  createTestDatabase,
  openSql,
  type PrivatePostgres,
  startPrivatePostgres,
  type TestDatabase,
  type TestSql,
} from '../support/postgres.js';

const INSERT = ['numbers-insert', 'INSERT INTO numbers (id) VALUES ($1) RETURNING id'] as const;
const COUNT = ['numbers-count', 'SELECT count(*) AS count FROM numbers'] as const;

describe('Sql', () => {
  let database: TestDatabase;
  let opened: TestSql;

  beforeAll(async () => {
    database = await createTestDatabase({ migrated: false });
    opened = await openSql(database.url, 5);
    await opened.sql.run('create', 'CREATE TABLE numbers (id int PRIMARY KEY)');
  });

  afterAll(async () => {
    await opened.close();
    await database.drop();
  });

  beforeEach(() => opened.sql.run('clear', 'TRUNCATE numbers'));

  it('ends 50 parallel writes on a pool of 5', async () => {
    const { sql } = opened;
    await Promise.all(Array.from({ length: 50 }, (_, id) => sql.run(...INSERT, [id])));
    expect((await sql.run(...COUNT)).rows).toEqual([{ count: 50 }]);
    expect(sql.pool.totalCount).toBeLessThanOrEqual(5);
  });

  it('ends 50 parallel transactions on a pool of 5', async () => {
    const { sql } = opened;
    const run = (id: number): Promise<unknown> =>
      sql.transaction(async (tx) => {
        await tx.run(...INSERT, [id * 2]);
        return tx.run(...INSERT, [id * 2 + 1]);
      });
    await Promise.all(Array.from({ length: 50 }, (_, id) => run(id)));
    expect((await sql.run(...COUNT)).rows).toEqual([{ count: 100 }]);
  });

  it('keeps the connection after an error that is the statement’s own', async () => {
    const { sql } = opened;
    const pid = async (): Promise<unknown> =>
      (await sql.run('pid', 'SELECT pg_backend_pid() AS pid')).rows[0];
    const before = await pid();
    await sql.run(...INSERT, [1]);
    const again = await sql.run(...INSERT, [1]).catch((error: unknown) => error);
    expect(isUniqueViolation(again, 'numbers_pkey')).toBe(true);
    expect(await pid()).toEqual(before);
  });

  it('rolls back what a transaction did before it threw, whoever threw', async () => {
    const { sql } = opened;
    const own = sql.transaction(async (tx) => {
      await tx.run(...INSERT, [1]);
      throw new Error('ours');
    });
    await expect(own).rejects.toThrow('ours');
    const swallowed = sql.transaction(async (tx) => {
      await tx.run(...INSERT, [1]);
      await tx.exec('SELECT nonsense').catch(() => undefined);
    });
    await expect(swallowed).rejects.toThrow('rolled back');
    expect((await sql.run(...COUNT)).rows).toEqual([{ count: 0 }]);
  });

  it('runs a prepared statement on, when a migration changes the table under it', async () => {
    const { sql } = opened;
    const all = (): Promise<unknown[]> =>
      Promise.all(
        Array.from({ length: 5 }, async () => (await sql.run('all', 'SELECT * FROM numbers')).rows),
      );
    await sql.run(...INSERT, [1]);
    expect(await all()).toEqual(Array(5).fill([{ id: 1 }]));
    await sql.transaction((tx) => tx.exec('ALTER TABLE numbers ADD COLUMN more int'));
    expect(await all()).toEqual(Array(5).fill([{ id: 1, more: null }]));
    await sql.transaction((tx) => tx.exec('ALTER TABLE numbers DROP COLUMN more'));
  });

  it('gives up waiting for a connection when all of them are taken', async () => {
    const tight = await openSql(database.url, 1);
    let release = (): void => undefined;
    const busy = tight.sql.transaction(() => new Promise<void>((resolve) => (release = resolve)));
    const waiting = await tight.sql.run('one', 'SELECT 1').catch((error: unknown) => error);
    expect(isConnectionError(waiting)).toBe(true);
    release();
    await busy;
    await tight.close();
  });
});

describe('Sql when the server breaks', () => {
  let server: PrivatePostgres;
  let opened: TestSql;

  beforeAll(async () => {
    server = await startPrivatePostgres();
    opened = await openSql(server.url, 5, 500);
  });

  afterAll(async () => {
    await opened.close();
    await server.stop();
  });

  const one = async (): Promise<unknown> => (await opened.sql.run('one', 'SELECT 1 AS one')).rows[0];
  /** Every connection of the pool in use at once, so that all of them are open. */
  const fillPool = (): Promise<unknown[]> => Promise.all(Array.from({ length: 20 }, one));
  const untilAnswered = async (): Promise<unknown> => {
    for (;;) {
      const answer = await one().catch((error: unknown) => {
        if (!isConnectionError(error)) throw error;
        return null;
      });
      if (answer) return answer;
    }
  };

  it('survives the end of idle connections', async () => {
    await fillPool();
    expect(await server.terminateConnections()).toBe(5);
    expect(await untilAnswered()).toEqual({ one: 1 });
  });

  it('survives the end of a connection in the middle of a transaction, between two statements', async () => {
    const work = opened.sql.transaction(async (tx) => {
      await tx.exec('SELECT 1');
      await server.terminateConnections();
      await tx.exec('SELECT 1');
    });
    expect(isConnectionError(await work.catch((error: unknown) => error))).toBe(true);
    expect(await untilAnswered()).toEqual({ one: 1 });
  });

  it('survives a restart and a kill of the server, prepared statements included', async () => {
    await fillPool();
    await server.restart();
    expect(await untilAnswered()).toEqual({ one: 1 });
    await fillPool();
    await server.kill9();
    expect(await untilAnswered()).toEqual({ one: 1 });
  });

  it('gives up on a frozen server in time, and comes back when it thaws', async () => {
    await fillPool();
    server.pause();
    try {
      const error = await one().catch((found: unknown) => found);
      expect(isConnectionError(error)).toBe(true);
    } finally {
      server.resume();
    }
    expect(await untilAnswered()).toEqual({ one: 1 });
  });
});
