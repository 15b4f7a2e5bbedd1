import { BatchWriter, Overloaded } from '../../src/platform/postgres/batch-writer.js';
import { isConnectionError } from '../../src/platform/postgres/sql-errors.js';
import { type Sql } from '../../src/platform/postgres/sql.js';
import { openSql, type PrivatePostgres, startPrivatePostgres, type TestSql } from '../support/postgres.js';

interface Row {
  id: number;
  text: string;
}

const INSERT = `
  INSERT INTO notes (id, text)
  SELECT * FROM unnest($1::int[], $2::text[])
  ON CONFLICT (id) DO UPDATE SET text = excluded.text
  RETURNING id`;

function writerOn(
  sql: Sql,
  options: { maxQueue?: number; concurrency?: number } = {},
): BatchWriter<Row, number> {
  return new BatchWriter({
    name: 'notes',
    maxBatch: 200,
    maxQueue: 5_000,
    ...options,
    async write(rows) {
      await sql.run('notes-insert', INSERT, [rows.map(({ id }) => id), rows.map(({ text }) => text)]);
      return rows.map(({ id }) => id);
    },
  });
}

describe('BatchWriter on Postgres', () => {
  let server: PrivatePostgres;
  let opened: TestSql;
  let sql: Sql;

  beforeAll(async () => {
    server = await startPrivatePostgres();
    opened = await openSql(server.url, 5);
    sql = opened.sql;
    await sql.run('create', 'CREATE TABLE notes (id int PRIMARY KEY, text text CHECK (length(text) < 100))');
  });

  afterAll(async () => {
    await opened.close();
    await server.stop();
  });

  beforeEach(() => sql.run('clear', 'TRUNCATE notes'));

  const ids = async (): Promise<number[]> =>
    (await sql.run<{ id: number }>('ids', 'SELECT id FROM notes ORDER BY id')).rows.map(({ id }) => id);

  it('answers 50 callers on a pool of 5, whose writers run side by side', async () => {
    const writers = Array.from({ length: 10 }, () => writerOn(sql, { concurrency: 4 }));
    const writes = Array.from({ length: 50 }, (_, id) => writers[id % 10]!.write({ id, text: 'x' }));
    expect(await Promise.all(writes)).toEqual(Array.from({ length: 50 }, (_, id) => id));
    expect(await ids()).toHaveLength(50);
  });

  it('lets a poisoned row fail alone: a broken constraint, a NUL', async () => {
    const writer = writerOn(sql);
    const texts = Array.from({ length: 100 }, (_, id) =>
      id === 13 ? 'x'.repeat(100) : id === 77 ? 'nul \u0000' : 'fine',
    );
    const results = await Promise.allSettled(texts.map((text, id) => writer.write({ id, text })));
    const failed = results.flatMap((result, id) =>
      result.status === 'rejected' ? [[id, (result.reason as { code: string }).code]] : [],
    );
    expect(failed).toEqual([
      [13, '23514'],
      [77, '22021'],
    ]);
    expect(await ids()).toHaveLength(98);
  });

  it('refuses more than may wait, and writes all it has taken', async () => {
    const writer = writerOn(sql, { maxQueue: 10 });
    const results = await Promise.allSettled(
      Array.from({ length: 25 }, (_, id) => writer.write({ id, text: 'x' })),
    );
    const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused).toHaveLength(15);
    expect(refused.every(({ reason }) => reason instanceof Overloaded)).toBe(true);
    expect(await ids()).toEqual(Array.from({ length: 10 }, (_, id) => id));
  });

  it.each(['restart', 'kill9'] as const)(
    'loses nothing and fails nobody over a %s in the middle',
    async (fault) => {
      const writer = writerOn(sql, { concurrency: 2 });
      let written = 0;
      let broken: Promise<void> | undefined;
      const caller = async (first: number): Promise<void> => {
        for (let id = first; id < first + 40; id++) {
          await writer.write({ id, text: 'x' });
          written++;
          if (written === 500) broken = server[fault]();
        }
      };
      await Promise.all(Array.from({ length: 50 }, (_, at) => caller(at * 40)));
      await broken;
      const found = await ids().catch(async (error: unknown) => {
        if (!isConnectionError(error)) throw error;
        return ids();
      });
      expect(found).toHaveLength(2_000);
    },
  );

  it('writes what waits when it is closed', async () => {
    const writer = writerOn(sql);
    const writes = Array.from({ length: 500 }, (_, id) => writer.write({ id, text: 'x' }));
    await writer.close();
    expect(await ids()).toHaveLength(500);
    await Promise.all(writes);
  });
});
