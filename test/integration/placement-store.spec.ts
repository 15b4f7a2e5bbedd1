import { newId } from '../../src/platform/ids.js';
import { AdmissionStore } from '../../src/scheduler/admission.store.js';
import { PlacementStore, type LaneHead } from '../../src/scheduler/placement.store.js';
import { createTestDatabase, openSql, type TestDatabase, type TestSql } from '../support/postgres.js';
import { until } from '../support/until.js';

/* Dispatchers in one lane, each with a pool of its own. */

let database: TestDatabase;
let opened: TestSql[];
let dispatchers: PlacementStore[];

class PatientStore extends PlacementStore {
  protected override readonly turnTimeoutMs = 60_000;
}

beforeAll(async () => {
  database = await createTestDatabase();
  opened = [await openSql(database.url), await openSql(database.url)];
  dispatchers = opened.map((o) => new PlacementStore(o.sql));
});
afterAll(async () => {
  for (const o of opened ?? []) await o.close();
  await database?.drop();
});

async function admit(lane: string, priorities: readonly number[]): Promise<void> {
  const admission = new AdmissionStore(opened[0]!.sql);
  for (const priority of priorities)
    await admission.add({
      id: newId(),
      namespace: 'default',
      lane,
      capability: 'work',
      payload: String(priority),
      priority,
      idempotent: false,
      affinityKey: null,
      parentTaskId: null,
      retryOf: null,
      callbackUrl: null,
      traceparent: null,
      ackTimeoutMs: 5_000,
      executionTimeoutMs: 60_000,
      maxAttempts: 3,
      delayMs: 0,
      runAt: null,
      expiresInMs: null,
      key: null,
      bodyDigest: null,
    });
}

class Gate {
  readonly arrived: Promise<void>;
  readonly opened: Promise<void>;
  arrive!: () => void;
  open!: () => void;

  constructor() {
    this.arrived = new Promise((resolve) => (this.arrive = resolve));
    this.opened = new Promise((resolve) => (this.open = resolve));
  }
}

/** Picks and offers the `count` best, and tells their priorities; the transaction ends when `gate` opens. */
function place(store: PlacementStore, lane: string, count: number, gate?: Gate): Promise<number[]> {
  return store.withHead(lane, async (head: LaneHead) => {
    const tasks = await head.pick(lane, count);
    gate?.arrive();
    await gate?.opened;
    await head.offer(
      tasks.map((task) => ({ task, agentId: 'a1', leaseId: newId(), transport: 'pull' as const })),
    );
    return tasks.map((task) => Number(task.payload));
  });
}

async function awaitedTurns(): Promise<number> {
  const { rows } = await opened[0]!.sql.run<{ n: number }>(
    'awaited',
    `SELECT count(*)::int AS n FROM pg_locks JOIN pg_database d ON d.oid = database
     WHERE locktype = 'advisory' AND NOT granted AND d.datname = current_database()`,
  );
  return rows[0]!.n;
}

test('a dispatcher waits for its turn in the lane, and then sees what is left', async () => {
  await admit('turns', [1, 9, 5, 7]);
  const gate = new Gate();
  const first = place(dispatchers[0]!, 'turns', 2, gate);
  await gate.arrived;
  const second = place(new PatientStore(opened[1]!.sql), 'turns', 4);
  await until('the second waits for its turn', async () => (await awaitedTurns()) === 1);
  await admit('turns', [8]);
  gate.open();
  expect(await first).toEqual([9, 7]);
  expect(await second).toEqual([8, 5, 1]);
});

test('one that stalls in its turn holds up nothing but what it has locked', async () => {
  await admit('stalled', [1, 9, 5, 7]);
  const gate = new Gate();
  const first = place(dispatchers[0]!, 'stalled', 2, gate);
  await gate.arrived;
  expect(await place(dispatchers[1]!, 'stalled', 4)).toEqual([5, 1]);
  gate.open();
  expect(await first).toEqual([9, 7]);
});

test('lanes do not wait for each other', async () => {
  await admit('one', [1]);
  await admit('other', [2]);
  const gate = new Gate();
  const first = place(dispatchers[0]!, 'one', 1, gate);
  await gate.arrived;
  expect(await place(new PatientStore(opened[1]!.sql), 'other', 1)).toEqual([2]);
  gate.open();
  await first;
});
