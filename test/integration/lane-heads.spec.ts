import { laneOf } from '../../src/core/lane.js';
import { loadSql } from '../../src/platform/postgres/sql-file.js';
import type { SqlTransaction } from '../../src/platform/postgres/sql.js';
import { AdmissionStore } from '../../src/scheduler/admission.store.js';
import { newTask } from '../support/new-task.js';
import { createTestDatabase, openSql, type TestDatabase, type TestSql } from '../support/postgres.js';
import { until } from '../support/until.js';

/*
 * Statements that look at the head of a lane do so once, however many tasks they are about: under load a look passes
 * hundreds of entries of tasks that have just gone. The plans are those that prepared statements come to.
 */

const MAKE_DUE = loadSql(import.meta.url, '../../src/scheduler/sql/make_due.sql');
const TASKS = 300;
const lane = laneOf({ namespace: 'default', capabilities: [{ name: 'work' }] });

let database: TestDatabase;
let opened: TestSql;
beforeAll(async () => {
  database = await createTestDatabase();
  opened = await openSql(database.url);
});
afterAll(async () => {
  await opened?.close();
  await database?.drop();
});

/** How often `work` looks into the index of heads, over all partitions. */
function looksBy(work: (tx: SqlTransaction) => Promise<unknown>): Promise<number> {
  return opened.sql.transaction(async (tx) => {
    await tx.exec('SET LOCAL plan_cache_mode = force_generic_plan');
    const looks = async () => {
      const { rows } = await tx.exec<{ n: string }>(
        `SELECT sum(pg_stat_get_xact_numscans(oid)) AS n FROM pg_class WHERE relname ~ '_lane_rank_id_idx$'`,
      );
      return Number(rows[0]?.n);
    };
    const before = await looks();
    await work(tx);
    return (await looks()) - before;
  });
}

/** One look goes into each partition. */
async function partitions(): Promise<number> {
  const { rows } = await opened.sql.run<{ n: string }>(
    'test_partitions',
    `SELECT count(*) AS n FROM pg_inherits WHERE inhparent = 'tasks'::regclass`,
  );
  return Number(rows[0]?.n);
}

test('when tasks are admitted', async () => {
  const store = new AdmissionStore(opened.sql);
  const tasks = Array.from({ length: TASKS }, () => newTask(lane));
  expect(await looksBy((tx) => store.addWithin(tx, tasks))).toBe(await partitions());
});

test('when tasks come due', async () => {
  const store = new AdmissionStore(opened.sql);
  const tasks = Array.from({ length: TASKS }, () => newTask(lane, { delayMs: 1 }));
  await opened.sql.transaction((tx) => store.addWithin(tx, tasks));
  const ids = tasks.map((task) => task.id);
  const each = (value: number) => ids.map(() => value);
  let moved = 0;
  let looks = 0;
  await until('they are due', async () => {
    looks = await looksBy(async (tx) => {
      const params = [ids, each(0), each(0), each(1)];
      moved = (await tx.run('make_due', MAKE_DUE, params)).rows.length;
    });
    return moved === TASKS;
  });
  expect(looks).toBe(await partitions());
});
