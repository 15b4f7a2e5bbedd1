import type { Decision } from '../../src/core/decision.js';
import { Turns } from '../../src/core/fair-share.js';
import { laneOf, requirementOf } from '../../src/core/lane.js';
import { newId } from '../../src/platform/ids.js';
import { loadSql } from '../../src/platform/postgres/sql-file.js';
import { AdmissionStore, type NewTask } from '../../src/scheduler/admission.store.js';
import type { Depths } from '../../src/scheduler/depths.js';
import { Moves } from '../../src/scheduler/moves.js';
import type { Orders } from '../../src/scheduler/orders.js';
import { SweepStore } from '../../src/scheduler/sweep.store.js';
import { PlacementStore, type LaneHead } from '../../src/scheduler/placement.store.js';
import { newTask } from '../support/new-task.js';
import { createTestDatabase, openSql, type TestDatabase, type TestSql } from '../support/postgres.js';
import { until } from '../support/until.js';

/* Dispatchers in one lane, each with a pool of its own. */

let database: TestDatabase;
let opened: TestSql[];
let dispatchers: PlacementStore[];

const laneFor = (name: string): string => laneOf({ namespace: 'default', capabilities: [{ name }] });

const DECISION: Decision = {
  policy: '',
  by: 'selection',
  seed: 1,
  compared: [],
  of: 1,
  rejected: { counts: {}, named: [] },
};

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
  for (const priority of priorities) await admission.add(newTask(lane, { priority }));
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
      tasks.map((task) => ({
        task,
        agentId: 'a1',
        leaseId: newId(),
        transport: 'pull' as const,
        executionTimeoutMs: task.execution_timeout_ms,
        decision: DECISION,
      })),
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
  await admit(laneFor('turns'), [1, 9, 5, 7]);
  const gate = new Gate();
  const first = place(dispatchers[0]!, laneFor('turns'), 2, gate);
  await gate.arrived;
  const second = place(new PatientStore(opened[1]!.sql), laneFor('turns'), 4);
  await until('the second waits for its turn', async () => (await awaitedTurns()) === 1);
  await admit(laneFor('turns'), [8]);
  gate.open();
  expect(await first).toEqual([9, 7]);
  expect(await second).toEqual([8, 5, 1]);
});

test('one that stalls in its turn holds up nothing but what it has locked', async () => {
  await admit(laneFor('stalled'), [1, 9, 5, 7]);
  const gate = new Gate();
  const first = place(dispatchers[0]!, laneFor('stalled'), 2, gate);
  await gate.arrived;
  expect(await place(dispatchers[1]!, laneFor('stalled'), 4)).toEqual([5, 1]);
  gate.open();
  expect(await first).toEqual([9, 7]);
});

test('lanes do not wait for each other', async () => {
  await admit(laneFor('one'), [1]);
  await admit(laneFor('other'), [2]);
  const gate = new Gate();
  const first = place(dispatchers[0]!, laneFor('one'), 1, gate);
  await gate.arrived;
  expect(await place(new PatientStore(opened[1]!.sql), laneFor('other'), 1)).toEqual([2]);
  gate.open();
  await first;
});

describe('a task with a seat', () => {
  const SEAT = {
    offer: {
      agentId: 'a1',
      leaseId: newId(),
      transport: 'session' as const,
      executionTimeoutMs: 30_000,
      decision: DECISION,
    },
  };
  let admission: AdmissionStore;

  beforeAll(() => {
    admission = new AdmissionStore(opened[0]!.sql);
  });

  async function rowOf(id: string) {
    const { rows } = await opened[0]!.sql.run(
      'row',
      `SELECT state, fence, attempt, agent_id, lease_id, transport, offered_at = created_at AS at_once,
         deadline_at = created_at + interval '5 s' AS until_ack, execution_timeout_ms
       FROM tasks WHERE id = $1`,
      [id],
    );
    return rows[0];
  }
  const OFFERED = {
    state: 'offered',
    fence: 1,
    attempt: 1,
    agent_id: 'a1',
    lease_id: SEAT.offer.leaseId,
    transport: 'session',
    at_once: true,
    until_ack: true,
    execution_timeout_ms: 30_000,
  };
  const QUEUED = { state: 'queued', fence: 0, attempt: 0, agent_id: null, lease_id: null, transport: null };

  test('is offered as it is inserted, others of its statement as well', async () => {
    const tasks = [1, 2, 3].map(() => newTask(laneFor('free')));
    const seats = [SEAT, undefined, SEAT];
    const admitted = await Promise.all(tasks.map((task, i) => admission.add(task, seats[i])));
    expect(admitted.map((a) => a.state)).toEqual(['offered', 'queued', 'offered']);
    expect(admitted[0]).toMatchObject({ added: true, deadlineAt: expect.any(Date) });
    expect(await rowOf(tasks[0]!.id)).toEqual(OFFERED);
    expect(await rowOf(tasks[1]!.id)).toMatchObject(QUEUED);
  });

  test('queues behind a task that waits in its lane, and for none in another', async () => {
    await admit(laneFor('behind'), [0]);
    const behind = newTask(laneFor('behind'));
    const beside = newTask(laneFor('beside'));
    await Promise.all([admission.add(behind, SEAT), admission.add(beside, SEAT)]);
    // Another dispatcher may offer it while the slot of delivery 1 is being given back.
    expect(await rowOf(behind.id)).toMatchObject({ ...QUEUED, fence: 1 });
    expect(await rowOf(beside.id)).toEqual(OFFERED);
  });

  test('queues while one of its capabilities is paused', async () => {
    await opened[0]!.sql.run(
      'pause',
      `INSERT INTO capability_switches (namespace, capability, paused)
       VALUES ('default', 'halted', true), ('default', 'going', false), ('other', 'elsewhere', true)`,
    );
    const state = async (...needs: { name: string; version?: string }[]) => {
      const lane = laneOf({ namespace: 'default', capabilities: needs });
      return (await admission.add(newTask(lane), SEAT)).state;
    };
    expect(await state({ name: 'halted' })).toBe('queued');
    expect(await state({ name: 'going' }, { name: 'halted', version: '^1' })).toBe('queued');
    expect(await state({ name: 'going' })).toBe('offered');
    expect(await state({ name: 'elsewhere' })).toBe('offered');
  });

  test('queues, or waits for its time, when the seat is lost or the task not due', async () => {
    const lost = newTask(laneFor('lost'));
    await admission.add(lost, { offer: undefined });
    expect(await rowOf(lost.id)).toMatchObject({ ...QUEUED, fence: 1 });
    const later = newTask(laneFor('later'), { delayMs: 60_000 });
    await admission.add(later, SEAT);
    expect(await rowOf(later.id)).toMatchObject({ ...QUEUED, state: 'scheduled', fence: 1 });
  });

  test('is not offered twice when its key is known', async () => {
    const known = newTask(laneFor('known'), { key: 'k', bodyDigest: 'd' });
    const again = newTask(laneFor('known'), { key: 'k', bodyDigest: 'd' });
    expect(await admission.add(known, SEAT)).toMatchObject({ added: true, state: 'offered' });
    expect(await admission.add(again, SEAT)).toMatchObject({ added: false, taskId: known.id });
    expect(await rowOf(again.id)).toBeUndefined();
  });
});

describe('what has to have started', () => {
  const LEASE = newId();
  const offered = (transport: 'pull' | 'push') => ({
    offer: { agentId: 'late', leaseId: LEASE, transport, executionTimeoutMs: 60_000, decision: DECISION },
  });
  const run = async (name: string, params: unknown[]) => {
    const text = loadSql(new URL('../../src/scheduler/', import.meta.url).href, `sql/${name}.sql`);
    return (await opened[0]!.sql.run<{ id?: string; over_at?: Date; deadline_at?: Date }>(name, text, params))
      .rows;
  };
  const admitted = async (more: Partial<NewTask>, transport?: 'pull' | 'push'): Promise<NewTask> => {
    const task = newTask(laneFor('late'), more);
    if (transport !== undefined) task.lane = laneFor(`late.${task.id}`);
    await new AdmissionStore(opened[0]!.sql).add(task, transport && offered(transport));
    return task;
  };
  /** Its start limit passed, and no sweep has seen it. */
  const lapse = (...tasks: NewTask[]) =>
    opened[0]!.sql.run('lapse', `UPDATE tasks SET expires_at = now() WHERE id = ANY ($1)`, [
      tasks.map((t) => t.id),
    ]);

  test('is not picked, not handed out of an inbox, not sent again to a session, and its ACK is no claim', async () => {
    const offer = await admitted({ expiresInMs: 60_000 }, 'pull');
    const fresh = await admitted({ expiresInMs: 60_000 }, 'pull');
    const push = await admitted({ expiresInMs: 60_000 }, 'push');
    const queued = await admitted({ expiresInMs: 60_000 });
    await lapse(offer, push, queued);
    const tasks = [offer, fresh, push];
    const ids = tasks.map((t) => t.id);
    expect(await place(dispatchers[0]!, laneFor('late'), 10)).toEqual([]);
    const open = await dispatchers[0]!.openOffers([offer, fresh].map((t) => ({ taskId: t.id, fence: 1 })));
    expect(open.map((o) => o.id)).toEqual([fresh.id]);
    expect((await dispatchers[0]!.offersOfLease('default', 'late', LEASE)).map((o) => o.id)).toEqual([
      fresh.id,
    ]);
    const acked = await run('ack', [ids, ids.map(() => 1), ids.map(() => LEASE)]);
    // A push begins before we hear of its ACK.
    expect(acked.map((row) => ids[(row as { ord: number }).ord - 1])).toEqual([fresh.id, push.id]);
  });

  test('an offer that is no push is due when its task has to have started', async () => {
    const pull = await admitted({ expiresInMs: 1000, ackTimeoutMs: 5000 }, 'pull');
    const push = await admitted({ expiresInMs: 1000, ackTimeoutMs: 5000 }, 'push');
    const due = async ({ id }: NewTask) =>
      (
        await opened[0]!.sql.run<{ ms: number }>(
          'ms',
          `SELECT (extract(epoch FROM deadline_at - created_at) * 1000)::float8 AS ms FROM tasks WHERE id = $1`,
          [id],
        )
      ).rows[0]?.ms;
    expect([await due(pull), await due(push)]).toEqual([1000, 5000]);
  });

  test('the time of the whole task bounds its start and every deadline', async () => {
    const task = await admitted({ timeoutMs: 2000, expiresInMs: 60_000 }, 'pull');
    const [open] = await dispatchers[0]!.openOffers([{ taskId: task.id, fence: 1 }]);
    expect(open!.end_in_ms).toBeLessThanOrEqual(2000);
    expect(open!.start_in_ms).toBe(open!.end_in_ms);
    const [acked] = await run('ack', [[task.id], [1], [LEASE]]);
    const [moved] = await run('progress', [[task.id], [1], [LEASE], [600_000], [null]]);
    expect(moved!.deadline_at).toEqual(acked!.deadline_at);
    const { rows } = await opened[0]!.sql.run(
      'bounds',
      `SELECT ends_at = created_at + interval '2 s' AS ends, expires_at = ends_at AS starts, deadline_at = ends_at AS due
       FROM tasks WHERE id = $1`,
      [task.id],
    );
    expect(rows).toEqual([{ ends: true, starts: true, due: true }]);
    const later = await admitted({ timeoutMs: 2000, delayMs: 60_000 });
    const [row] = (
      await opened[0]!.sql.run<{ ms: number }>(
        'later',
        `SELECT (extract(epoch FROM ends_at - run_at) * 1000)::float8 AS ms FROM tasks WHERE id = $1`,
        [later.id],
      )
    ).rows;
    expect(row).toEqual({ ms: 2000 });
  });
});

describe('callers of a lane', () => {
  const payloads = (store: PlacementStore, lane: string, count: number) => place(store, lane, count);
  const submit = async (
    store: AdmissionStore,
    lane: string,
    caller: string,
    from: number,
    count: number,
    priority = 0,
  ) => {
    for (let i = 0; i < count; i++)
      await store.add(newTask(lane, { caller, priority, payload: String(from + i) }));
  };

  test('take turns, whoever has how many waiting, through whichever replica, also once some were served', async () => {
    const [one, two] = opened.map((o) => new AdmissionStore(o.sql));
    const lane = laneFor('fair');
    await submit(one!, lane, 'flood', 0, 60);
    await payloads(dispatchers[0]!, lane, 20);
    await submit(two!, lane, 'late', 1000, 10);
    const order = await payloads(dispatchers[1]!, lane, 30);
    expect(order.filter((n) => n >= 1000)).toHaveLength(10);
    // Each of his is passed by one of the other's.
    expect(order.slice(0, 21).filter((n) => n >= 1000).length).toBeGreaterThanOrEqual(9);
    // In the order of each.
    const late = order.filter((n) => n >= 1000);
    expect(late).toEqual([...late].sort((a, b) => a - b));
  });

  test('whose tasks were all served are no further behind than others', async () => {
    const [one, two] = opened.map((o) => new AdmissionStore(o.sql));
    const lane = laneFor('served');
    await submit(one!, lane, 'first', 0, 40);
    await payloads(dispatchers[0]!, lane, 40);
    for (let i = 0; i < 10; i++)
      await two!.add(newTask(lane, { caller: 'second', payload: String(1000 + i) }));
    await one!.add(newTask(lane, { caller: 'first', payload: '50' }));
    const order = await payloads(dispatchers[0]!, lane, 11);
    // What he had to himself is not held against him.
    expect(order.indexOf(50)).toBeLessThanOrEqual(2);
  });

  test('a priority is a head start of a hundred turns a point: it is passed by no more', async () => {
    const one = new AdmissionStore(opened[0]!.sql);
    const lane = laneFor('aged');
    await submit(one, lane, 'low', 0, 3, 0);
    await submit(one, lane, 'high', 1000, 150, 1);
    const order = await payloads(dispatchers[0]!, lane, 153);
    expect(order.slice(0, 99).every((n) => n >= 1000)).toBe(true);
    expect(order.slice(0, 110).filter((n) => n < 1000)).toEqual([0, 1, 2]);
  });

  test('take turns also where many of their tasks come at once', async () => {
    const one = new AdmissionStore(opened[0]!.sql);
    const lane = laneFor('at once');
    await Promise.all(Array.from({ length: 100 }, () => one.add(newTask(lane, { caller: 'flood' }))));
    await submit(one, lane, 'late', 1000, 10);
    const order = await payloads(dispatchers[0]!, lane, 30);
    expect(order.slice(0, 23).filter((n) => n >= 1000)).toHaveLength(10);
  });

  test('what comes due in an empty lane begins where what was served has ended', async () => {
    const admission = new AdmissionStore(opened[0]!.sql);
    const sweep = new SweepStore(opened[0]!.sql);
    const lane = laneFor('empty');
    await submit(admission, lane, 'first', 0, 5);
    await payloads(dispatchers[0]!, lane, 5);
    const task = newTask(lane, { caller: 'other', delayMs: 1 });
    await admission.add(task);
    const row = { id: task.id, fence: 0, lane, priority: 0, caller: 'other' };
    await until('it is due', async () => (await sweep.makeDue([row])).length === 1);
    await submit(admission, lane, 'third', 0, 20);
    await submit(admission, lane, 'first', 1000, 1);
    const order = await payloads(dispatchers[0]!, lane, 22);
    expect(order.slice(0, 4)).toContain(1000);
  });

  test('take turns also when their time comes: who delays a flood gets no more for it', async () => {
    const admission = new AdmissionStore(opened[0]!.sql);
    const sweep = new SweepStore(opened[0]!.sql);
    const lane = laneFor('delayed');
    await submit(admission, lane, 'first', 1, 1);
    const flood = Array.from({ length: 60 }, () => newTask(lane, { caller: 'flood', delayMs: 1 }));
    await Promise.all(flood.map((task) => admission.add(task)));
    const rows = flood.map(({ id, priority, caller }) => ({ id, fence: 0, lane, priority, caller }));
    // The sweep takes some at a time.
    const due = async (some: typeof rows) => (await sweep.makeDue(some)).length;
    await until('the first are due', async () => (await due(rows.slice(0, 1))) === 1);
    for (let i = 1; i < 60; i += 20)
      await until('some are due', async () => (await due(rows.slice(i, i + 20))) > 0);
    await submit(admission, lane, 'late', 1000, 10);
    const order = await payloads(dispatchers[0]!, lane, 30);
    expect(order.slice(0, 23).filter((n) => n >= 1000)).toHaveLength(10);
  });

  test('take turns also in another lane that their tasks are brought to', async () => {
    const { sql } = opened[0]!;
    const turns = new Turns();
    const admission = new AdmissionStore(sql, turns);
    const nobody = { add: () => undefined, place: () => undefined };
    const moves = new Moves(sql, turns, nobody as unknown as Depths, nobody as unknown as Orders);
    const [from, target] = [laneFor('from'), laneFor('target')];
    await Promise.all(Array.from({ length: 1200 }, () => admission.add(newTask(from, { caller: 'flood' }))));
    await submit(admission, target, 'late', 1000, 20);
    const to = requirementOf(target);
    let moved = 0;
    for (let some = 1; some > 0; moved += some) some = await moves.move(from, to);
    expect(moved).toBe(1200);
    const order = await payloads(dispatchers[0]!, target, 60);
    expect(order.slice(0, 43).filter((n) => n >= 1000)).toHaveLength(20);
  });
});
