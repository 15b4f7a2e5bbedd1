import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { type Log } from '../embedded/log.js';
import { LOCK_SPACE, LOCKS } from './advisory-locks.js';
import { type Day, dayOf, dayOfPartition, firstIdOf, partitionName } from './partition-range.js';
import { isRetryable } from './sql-errors.js';
import { loadSql } from './sql-file.js';
import { type Sql, type SqlTransaction } from './sql.js';

const LIST = loadSql(import.meta.url, 'sql/partitions-list.sql');
/** Everybody else queues behind a statement that waits for a table: wait shortly, and rather come back. */
const LOCK_TIMEOUT = '1s';
const ATTEMPTS = 8;
const PAUSE_MS = 150;
/** Rows of the default partition removed in one go. */
const DEFAULT_ROWS = 10_000;

interface TablePartitions {
  readonly table: string;
  readonly keyColumn: string;
  readonly defaultPartition: string | null;
  /** Storage settings (`fillfactor=70`) of the default partition; the others get the same. */
  readonly storage: readonly string[];
  readonly days: ReadonlyMap<Day, string>;
  readonly today: Day;
}

interface ListRow {
  parent: string;
  key_column: string;
  partition: string | null;
  is_default: boolean | null;
  storage: string[] | null;
  now_ms: number;
}

/**
 * Tables partitioned by the UUID v7 range of a column, one day (UTC, the database's clock) a partition.
 *
 * A partition is made apart and then attached: ATTACH lets reads and writes of the table go on, where
 * CREATE TABLE ... PARTITION OF would lock it. Only the default partition is locked, for as long as it takes
 * to look through it, and it is empty as long as partitions are made ahead. Rows that did end up there are
 * moved by the same transaction. Any number of replicas may do this at the same time.
 */
export class Partitions {
  constructor(
    private readonly sql: Sql,
    private readonly log: Log,
  ) {}

  /**
   * Makes the missing partitions from yesterday to `daysAhead` days after today.
   * @returns the names of those made here
   */
  async ensure(tables: readonly string[], daysAhead: number): Promise<string[]> {
    const made: string[] = [];
    for (const found of await this.list(tables)) {
      for (let day = found.today - 1; day <= found.today + daysAhead; day++) {
        if (found.days.has(day)) continue;
        if (await this.patiently((tx) => create(tx, found, day))) made.push(partitionName(found.table, day));
      }
    }
    if (made.length > 0) this.log.info({ partitions: made }, 'Partitions made');
    return made;
  }

  /**
   * Drops the partitions whose whole day is more than `days` days ago. A partition with a row for which
   * the condition `keepWhile` holds is left for later; the same goes for rows in the default partition.
   * `keepWhile` is SQL of ours, never of a caller.
   * @returns the names of those dropped
   */
  async dropOlderThan(table: string, days: number, keepWhile?: string): Promise<string[]> {
    const dropped: string[] = [];
    for (const found of await this.list([table])) {
      const oldest = found.today - days;
      for (const [day, name] of found.days) {
        if (day >= oldest || (keepWhile && (await this.holds(name, keepWhile)))) continue;
        if (await this.patiently((tx) => drop(tx, found.table, name))) dropped.push(name);
      }
      await this.emptyDefault(found, oldest, keepWhile);
    }
    if (dropped.length > 0) this.log.info({ partitions: dropped }, 'Partitions dropped');
    return dropped;
  }

  private async list(tables: readonly string[]): Promise<TablePartitions[]> {
    const { rows } = await this.sql.run<ListRow>('partitions-list', LIST, [tables]);
    return tables.map((table) => readTable(table, rows));
  }

  private async holds(partition: string, condition: string): Promise<boolean> {
    return this.sql.transaction(async (tx) => {
      const { rows } = await tx.exec<{ holds: boolean }>(
        `SELECT EXISTS (SELECT FROM ${quoted(partition)} WHERE ${condition}) AS holds`,
      );
      return rows[0]?.holds === true;
    });
  }

  private async emptyDefault(found: TablePartitions, oldest: Day, keepWhile?: string): Promise<void> {
    const name = found.defaultPartition;
    if (name === null) return;
    const old = `${quoted(found.keyColumn)} < '${firstIdOf(oldest)}'`;
    const where = keepWhile ? `${old} AND (${keepWhile}) IS NOT TRUE` : old;
    await this.sql.transaction((tx) =>
      tx.exec(
        `DELETE FROM ${quoted(name)} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${quoted(name)} WHERE ${where} LIMIT ${DEFAULT_ROWS}))`,
      ),
    );
  }

  /** Runs `work` in a transaction that gives up a busy lock soon, and comes back a few times. */
  private async patiently(work: (tx: SqlTransaction) => Promise<boolean>): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.sql.transaction(async (tx) => {
          await tx.exec(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
          await tx.exec(`SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${LOCKS.partitions})`);
          return work(tx);
        });
      } catch (error) {
        if (!isRetryable(error) || attempt === ATTEMPTS) throw error;
        await wait(PAUSE_MS * attempt * (0.5 + Math.random()));
      }
    }
  }
}

async function create(tx: SqlTransaction, found: TablePartitions, day: Day): Promise<boolean> {
  const name = partitionName(found.table, day);
  if (await exists(tx, name)) return false;
  const [table, partition, key] = [quoted(found.table), quoted(name), quoted(found.keyColumn)];
  const [from, to] = [firstIdOf(day), firstIdOf(day + 1)];
  const storage = found.storage.length > 0 ? ` WITH (${found.storage.join(', ')})` : '';
  await tx.exec(`CREATE TABLE ${partition} (LIKE ${table} INCLUDING ALL EXCLUDING IDENTITY)${storage}`);
  if (found.defaultPartition !== null) {
    const rest = quoted(found.defaultPartition);
    await tx.exec(`LOCK TABLE ${rest} IN ACCESS EXCLUSIVE MODE`);
    await tx.exec(
      `WITH moved AS (DELETE FROM ${rest} WHERE ${key} >= '${from}' AND ${key} < '${to}' RETURNING *)
       INSERT INTO ${partition} SELECT * FROM moved`,
    );
  }
  await tx.exec(
    `ALTER TABLE ${table} ATTACH PARTITION ${partition} FOR VALUES FROM ('${from}') TO ('${to}')`,
  );
  return true;
}

async function drop(tx: SqlTransaction, table: string, partition: string): Promise<boolean> {
  if (!(await exists(tx, partition))) return false;
  // The concurrent form is refused while there is a default partition; this one is short, and bounded above.
  await tx.exec(`ALTER TABLE ${quoted(table)} DETACH PARTITION ${quoted(partition)}`);
  await tx.exec(`DROP TABLE ${quoted(partition)}`);
  return true;
}

async function exists(tx: SqlTransaction, name: string): Promise<boolean> {
  const { rows } = await tx.exec<{ found: boolean }>(
    `SELECT to_regclass('${quoted(name)}') IS NOT NULL AS found`,
  );
  return rows[0]?.found === true;
}

function readTable(table: string, rows: readonly ListRow[]): TablePartitions {
  const own = rows.filter(({ parent }) => parent === table);
  const [first] = own;
  if (!first) throw new Error(`${table} is not a partitioned table`);
  const days = new Map<Day, string>();
  for (const { partition } of own) {
    const day = partition === null ? null : dayOfPartition(table, partition);
    if (partition !== null && day !== null) days.set(day, partition);
  }
  const rest = own.find(({ is_default }) => is_default);
  return {
    table,
    keyColumn: first.key_column,
    defaultPartition: rest?.partition ?? null,
    storage: rest?.storage ?? [],
    days,
    today: dayOf(first.now_ms),
  };
}

function quoted(name: string): string {
  return pg.escapeIdentifier(name);
}
