import { dayOf, firstIdOf, partitionName } from '../../src/platform/postgres/partition-range.js';
import { Partitions } from '../../src/platform/postgres/partitions.js';
import { type Sql } from '../../src/platform/postgres/sql.js';
import {
  createTestDatabase,
  openSql,
  silentLogger,
  type TestDatabase,
  type TestSql,
} from '../support/postgres.js';

describe('partitions by day', () => {
  let database: TestDatabase;
  let opened: TestSql;
  let sql: Sql;
  let partitions: Partitions;
  let today: number;

  beforeEach(async () => {
    database = await createTestDatabase({ migrated: false });
    opened = await openSql(database.url);
    sql = opened.sql;
    partitions = new Partitions(sql, silentLogger);
    await exec(`CREATE TABLE events (id uuid PRIMARY KEY, done boolean NOT NULL DEFAULT true CHECK (done IS NOT NULL))
                  PARTITION BY RANGE (id)`);
    await exec(`CREATE TABLE events_default PARTITION OF events DEFAULT WITH (fillfactor = 70)`);
    await exec(`CREATE INDEX events_open ON events (id) WHERE NOT done`);
    const { rows } = await sql.run<{ ms: number }>(
      'now',
      'SELECT extract(epoch FROM now())::float8 * 1000 AS ms',
    );
    today = dayOf(rows[0]?.ms ?? 0);
  });

  afterEach(async () => {
    await opened.close();
    await database.drop();
  });

  const exec = (text: string): Promise<unknown> => sql.transaction((tx) => tx.exec(text));
  const insert = (day: number, done = true): Promise<unknown> =>
    sql.run('insert', 'INSERT INTO events VALUES ($1, $2)', [idOf(day), done]);
  const placeOf = async (day: number): Promise<string | undefined> => {
    const { rows } = await sql.run<{ place: string }>(
      'place',
      'SELECT tableoid::regclass::text AS place FROM events WHERE id = $1',
      [idOf(day)],
    );
    return rows[0]?.place;
  };

  it('makes yesterday to the days ahead once, however many replicas try', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => partitions.ensure(['events'], 3)));
    const days = [-1, 0, 1, 2, 3].map((offset) => partitionName('events', today + offset));
    expect(made.flat().sort()).toEqual(days);
    expect(await partitions.ensure(['events'], 3)).toEqual([]);
    for (const offset of [-1, 0, 3]) {
      await insert(today + offset);
      expect(await placeOf(today + offset)).toBe(partitionName('events', today + offset));
    }
  });

  it('gives a partition the indexes, checks and storage of the table', async () => {
    const [name] = await partitions.ensure(['events'], 0);
    const { rows } = await sql.run<{ what: string }>(
      'shape',
      `SELECT indexdef AS what FROM pg_indexes WHERE tablename = $1
       UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = to_regclass($1) AND contype = 'c'
       UNION ALL SELECT array_to_string(reloptions, ',') FROM pg_class WHERE oid = to_regclass($1)`,
      [name],
    );
    const shape = rows.map(({ what }) => what).join('\n');
    expect(shape).toMatch(/UNIQUE INDEX .*\(id\)/);
    expect(shape).toMatch(/WHERE \(NOT done\)/);
    expect(shape).toMatch(/CHECK/);
    expect(shape).toContain('fillfactor=70');
  });

  it('takes rows for which there was no partition out of the default one', async () => {
    await insert(today);
    await insert(today + 100);
    expect(await placeOf(today)).toBe('events_default');
    await partitions.ensure(['events'], 1);
    expect(await placeOf(today)).toBe(partitionName('events', today));
    expect(await placeOf(today + 100)).toBe('events_default');
  });

  it('lets writers go on while partitions are made and dropped under them', async () => {
    await exec(`CREATE TABLE events_${'20200101'} PARTITION OF events FOR VALUES
      FROM ('${firstIdOf(dayOf(Date.parse('2020-01-01')))}') TO ('${firstIdOf(dayOf(Date.parse('2020-01-02')))}')`);
    let going = true;
    let written = 0;
    const writer = async (): Promise<void> => {
      while (going) {
        await sql.run(
          'any',
          `INSERT INTO events SELECT (overlay($1 placing lpad(to_hex(floor(random() * 2^40)::bigint), 12, '0') from 25))::uuid`,
          [firstIdOf(today + (written % 5) - 1)],
        );
        written++;
      }
    };
    const writers = [writer(), writer(), writer()];
    await partitions.ensure(['events'], 3);
    expect(await partitions.dropOlderThan('events', 30)).toEqual(['events_20200101']);
    going = false;
    await Promise.all(writers);
    const { rows } = await sql.run<{ all: number; left: number }>(
      'count',
      'SELECT (SELECT count(*) FROM events) AS all, (SELECT count(*) FROM events_default) AS left',
    );
    expect(rows).toEqual([{ all: written, left: 0 }]);
  });

  it('drops what is older than its time, unless something in it is still needed', async () => {
    for (const days of [40, 35, 31, 30]) {
      const day = today - days;
      await exec(`CREATE TABLE ${partitionName('events', day)} PARTITION OF events
        FOR VALUES FROM ('${firstIdOf(day)}') TO ('${firstIdOf(day + 1)}')`);
      await insert(day, days !== 35);
    }
    await insert(today - 50);
    await insert(today - 60, false);
    const dropped = await partitions.dropOlderThan('events', 30, 'NOT done');
    expect(dropped).toEqual([partitionName('events', today - 40), partitionName('events', today - 31)]);
    const places = await Promise.all([30, 31, 35, 40, 50, 60].map((days) => placeOf(today - days)));
    expect(places).toEqual([
      partitionName('events', today - 30),
      undefined,
      partitionName('events', today - 35),
      undefined,
      undefined,
      'events_default',
    ]);
  });

  it('says which table is not partitioned', async () => {
    await exec('CREATE TABLE plain (id uuid)');
    await expect(partitions.ensure(['plain'], 1)).rejects.toThrow('plain is not a partitioned table');
  });
});

function idOf(day: number): string {
  return firstIdOf(day).replace('-0000-0000-', '-7000-8000-');
}
