import { laneOf } from '../../src/core/lane.js';
import { AdmissionStore } from '../../src/scheduler/admission.store.js';
import { type Firing, ScheduleStore } from '../../src/scheduler/schedules/schedule.store.js';
import { newTask } from '../support/new-task.js';
import { createTestDatabase, openSql, type TestDatabase, type TestSql } from '../support/postgres.js';

/* What the statements on schedules promise, where it would take minutes to see it from outside. */

const TIMING = {
  namespace: 'default',
  schedule_id: 'tick',
  cron: '* * * * * *',
  timezone: 'UTC',
  start_at: null,
  end_at: null,
  jitter_ms: 0,
};
const TASK = { capability: 'work', payload: null, priority: 0, idempotent: false };
const BODY = { catch_up: 'last', catch_up_limit: 10, overlap: 'skip', task: TASK } as const;

describe('the store of schedules', () => {
  let database: TestDatabase;
  let opened: TestSql;
  let store: ScheduleStore;

  beforeAll(async () => {
    database = await createTestDatabase();
    opened = await openSql(database.url);
    store = new ScheduleStore(opened.sql);
  });
  afterAll(async () => {
    await opened?.close();
    await database?.drop();
  });

  test('a schedule is busy while its task runs, however many fire times were skipped since', async () => {
    const task = newTask(laneOf({ namespace: 'default', capabilities: [{ name: 'work' }] }));
    await new AdmissionStore(opened.sql).add(task);
    const when = { nextAt: new Date(), dueAt: new Date(), waitingAt: null };
    const row = await store.write(opened.sql, TIMING, BODY, when, 'test');
    const firing = { namespace: 'default', scheduleId: 'tick', taskId: null, detail: 'busy' };
    const skipped = Array.from({ length: 500 }, (_, i): Firing => ({
      ...firing,
      at: new Date((i + 1) * 1000),
      outcome: 'skipped',
    }));
    await store.note(opened.sql, [
      { ...firing, at: new Date(0), outcome: 'fired', taskId: task.id, detail: null },
      ...skipped,
    ]);
    expect(await store.busy(opened.sql, [row])).toEqual(new Set([row]));
    const end = `UPDATE tasks SET state = 'canceled', finished_at = now(), deadline_at = NULL WHERE id = $1`;
    await opened.sql.run('end', end, [task.id]);
    expect(await store.busy(opened.sql, [row])).toEqual(new Set());
  });
});
