import fc from 'fast-check';
import type { INestApplicationContext } from '@nestjs/common';
import { ReachError } from '../../src/core/errors.js';
import {
  isTerminal,
  nextTaskState,
  TASK_EVENTS,
  TASK_STATES,
  type TaskState,
} from '../../src/core/task-state.js';
import { loadConfig } from '../../src/platform/config/config.js';
import { Sql } from '../../src/platform/postgres/sql.js';
import { agentKey } from '../../src/registry/agent-row.js';
import { registerBody } from '../../src/registry/agents.wire.js';
import { Registry } from '../../src/registry/registry.js';
import { Admission } from '../../src/scheduler/admission.js';
import { Deliveries } from '../../src/scheduler/deliveries.js';
import { Tasks } from '../../src/scheduler/tasks.js';
import { taskBody } from '../../src/scheduler/tasks.wire.js';
import { Inbox } from '../../src/scheduler/transports/inbox.js';
import { createApp } from '../../src/serve.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';

/*
 * Any sequence of legal and illegal calls, against the real ledger. The model does not predict which agent gets a
 * task; it knows what may never happen, whatever the order: see `Model`.
 */

const FORGED = '01990000-0000-7000-8000-000000000000';
const AGENTS = ['a1', 'a2'];

/** From which state which other one can be reached by any number of steps of the table. */
const reachable = new Map(
  TASK_STATES.map((from) => {
    const seen = new Set<TaskState>([from]);
    for (const state of seen)
      for (const event of TASK_EVENTS) {
        const next = nextTaskState(state, event);
        if (next !== undefined) seen.add(next);
      }
    return [from, seen];
  }),
);

interface Seen {
  state: TaskState;
  fence: number;
}

/** What the calls were answered, and what follows from that. */
class Model {
  readonly tasks = new Map<string, Seen & { idempotent: boolean }>();
  readonly offered: { deliveryId: string; taskId: string; leaseId: string }[] = [];
  readonly leases: { agentId: string; leaseId: string }[] = [];
  readonly executed = new Map<string, Set<string>>();
  readonly results = new Map<string, unknown>();
  readonly canceled = new Set<string>();
  /** deliveries whose failure was taken: nothing that they report later counts */
  readonly closed = new Set<string>();

  /** The rows as they stand now: states move by the table only, fences only rise, an end is for ever. */
  look(rows: readonly { id: string; state: TaskState; fence: number; result: unknown }[]): void {
    for (const row of rows) {
      const before = this.tasks.get(row.id);
      if (before === undefined) continue;
      expect(reachable.get(before.state)).toContain(row.state);
      expect(row.fence).toBeGreaterThanOrEqual(before.fence);
      if (isTerminal(before.state)) expect(row.state).toBe(before.state);
      if (this.canceled.has(row.id)) expect(row.state).toBe('canceled');
      if (this.results.has(row.id))
        expect(row).toMatchObject({ state: 'succeeded', result: this.results.get(row.id) });
      before.state = row.state;
      before.fence = row.fence;
    }
  }
}

let database: TestDatabase;
let app: INestApplicationContext & { close(): Promise<void> };

beforeAll(async () => {
  database = await createTestDatabase();
  const config = loadConfig({
    DATABASE_URL: database.url,
    REACH_LOG_LEVEL: 'silent',
    REACH_HTTP_PORT: '0',
    REACH_RETRY_BASE_MS: '1',
    REACH_REDISPATCH_JITTER_MS: '1',
    REACH_SWEEP_INTERVAL_MS: '50',
  });
  app = await createApp(config);
  await app.init();
});

afterAll(async () => {
  await app.close();
  await database.drop();
});

type Step = [op: (typeof OPS)[number], a: number, b: number];
const OPS = [
  'submit',
  'register',
  'claim',
  'ack',
  'complete',
  'fail',
  'progress',
  'cancel',
  'deregister',
] as const;

/** Few tasks, and much done to each: deliveries follow one another, and old ones are used again. */
const WEIGHTS: Record<(typeof OPS)[number], number> = {
  submit: 2,
  register: 1,
  claim: 8,
  ack: 8,
  complete: 3,
  fail: 8,
  progress: 1,
  cancel: 1,
  deregister: 1,
};

const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)];

/** The code that a call was refused with, or its answer. Anything but a refusal is a bug. */
async function answer<T>(call: Promise<T>): Promise<T | string> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ReachError) return error.code;
    throw error;
  }
}

class Run {
  readonly model = new Model();

  constructor(private readonly namespace: string) {}

  async step([op, a, b]: Step): Promise<void> {
    await this[op](a, b);
    this.model.look(await this.rows());
  }

  async rows() {
    const sql = app.get(Sql);
    const { rows } = await sql.run<{ id: string; state: TaskState; fence: number; result: unknown }>(
      'model_rows',
      'SELECT id, state, fence, result FROM tasks WHERE namespace = $1',
      [this.namespace],
    );
    return rows;
  }

  private async submit(a: number): Promise<void> {
    const idempotent = a % 2 === 0;
    const body = taskBody.parse({
      namespace: this.namespace,
      capability: 'c',
      payload: a,
      idempotent,
      max_attempts: 1 + (a % 4),
      ...(a % 5 === 0 && { delay_ms: 20 }),
    });
    const task = await app.get(Admission).submit(body, {});
    this.model.tasks.set(task.task_id, { state: task.state, fence: 0, idempotent });
  }

  private async register(a: number): Promise<void> {
    const body = registerBody.parse({
      namespace: this.namespace,
      agent_id: pick(AGENTS, a),
      capabilities: ['c'],
      max_concurrency: 2,
    });
    const lease = await app.get(Registry).register(body);
    this.model.leases.push({ agentId: lease.agent_id, leaseId: lease.lease_id });
  }

  private async deregister(a: number): Promise<void> {
    const lease = pick(this.model.leases, a);
    if (lease === undefined || a % 6 !== 0) return;
    await answer(app.get(Registry).deregister({ namespace: this.namespace, ...lease }, 0));
  }

  private async claim(a: number): Promise<void> {
    const lease = pick(this.model.leases, a);
    if (lease === undefined) return;
    const key = agentKey(this.namespace, lease.agentId);
    for (const text of await app.get(Inbox).claim(key, lease.leaseId, 2, 30)) {
      const offer = JSON.parse(text) as { delivery_id: string; task_id: string };
      expect(this.model.offered.some((o) => o.deliveryId === offer.delivery_id)).toBe(false);
      this.model.offered.push({
        deliveryId: offer.delivery_id,
        taskId: offer.task_id,
        leaseId: lease.leaseId,
      });
    }
  }

  /** A known delivery, under its own lease, another one of the same fleet, or a forged one. */
  private target(a: number, b: number) {
    const offer = pick(this.model.offered, a);
    if (offer === undefined) return undefined;
    const leases = [
      offer.leaseId,
      offer.leaseId,
      offer.leaseId,
      pick(this.model.leases, b)?.leaseId ?? FORGED,
      FORGED,
    ];
    return { ...offer, used: leases[b % leases.length] as string };
  }

  private async ack(a: number, b: number): Promise<void> {
    const t = this.target(a, b);
    if (t === undefined) return;
    const said = await app.get(Deliveries).ack(t.deliveryId, t.used);
    if (!said.execute) return;
    expect(t.used).toBe(t.leaseId);
    const begun = this.model.executed.get(t.taskId) ?? new Set();
    this.model.executed.set(t.taskId, begun.add(t.deliveryId));
    if (this.model.tasks.get(t.taskId)?.idempotent === false) expect(begun.size).toBe(1);
    expect(this.model.canceled).not.toContain(t.taskId);
  }

  private async complete(a: number, b: number): Promise<void> {
    const t = this.target(a, b);
    if (t === undefined) return;
    const output = { by: t.deliveryId };
    const said = await answer(app.get(Deliveries).complete(t.deliveryId, t.used, output));
    if (typeof said === 'string') return;
    expect(t.used).toBe(t.leaseId);
    expect(this.model.executed.get(t.taskId)).toContain(t.deliveryId);
    expect(this.model.closed).not.toContain(t.deliveryId);
    expect(this.model.results.get(t.taskId) ?? output).toEqual(output);
    this.model.results.set(t.taskId, output);
  }

  private async fail(a: number, b: number): Promise<void> {
    const t = this.target(a, b);
    if (t === undefined) return;
    const report = { code: b % 2 === 0 ? 'AGENT_ERROR' : 'AGENT_REFUSED', message: 'as told' };
    const said = await answer(app.get(Deliveries).fail(t.deliveryId, t.used, report));
    if (typeof said === 'string') return;
    expect(t.used).toBe(t.leaseId);
    this.model.closed.add(t.deliveryId);
    // An agent that declines says that it has done nothing, so another may begin.
    if (report.code === 'AGENT_REFUSED') this.model.executed.get(t.taskId)?.delete(t.deliveryId);
  }

  private async progress(a: number, b: number): Promise<void> {
    const t = this.target(a, b);
    if (t === undefined) return;
    const said = await answer(app.get(Deliveries).progress(t.deliveryId, t.used, 60_000, 'half'));
    if (typeof said !== 'string') expect(this.model.executed.get(t.taskId)).toContain(t.deliveryId);
  }

  private async cancel(a: number): Promise<void> {
    const id = pick([...this.model.tasks.keys()], a);
    if (id === undefined || a % 3 !== 0) return;
    const said = await app.get(Tasks).cancel(this.namespace, id);
    expect(isTerminal(said.state)).toBe(true);
    if (said.canceled) this.model.canceled.add(id);
  }

  /** Everything is brought to an end; then the books must balance. */
  async settle(): Promise<void> {
    for (const id of this.model.tasks.keys()) {
      const said = await app.get(Tasks).cancel(this.namespace, id);
      if (said.canceled) this.model.canceled.add(id);
    }
    const rows = await this.rows();
    this.model.look(rows);
    expect(rows).toHaveLength(this.model.tasks.size);
    const books = await app.get(Sql).run<Record<string, number>>('model_books', BOOKS, [this.namespace]);
    expect(books.rows[0]).toEqual({
      open: 0,
      failed_attempts_without_one_attribution: 0,
      failed_without_one_final: 0,
      other_finals: 0,
      fence_not_its_deliveries: 0,
      attempts_over_limit: 0,
    });
  }
}

/**
 * Fences number the deliveries of a task without a gap, from 1, or from 2 where a seat was lost before the insert; each
 * failed attempt and each failed task has its one row.
 */
const BOOKS = `
  WITH t AS (SELECT * FROM tasks WHERE namespace = $1),
  d AS (SELECT * FROM deliveries WHERE namespace = $1),
  a AS (SELECT * FROM attributions WHERE namespace = $1)
  SELECT
    (SELECT count(*) FROM t WHERE finished_at IS NULL)::int AS open,
    (SELECT count(*) FROM d WHERE outcome = 'failed' AND
      (SELECT count(*) FROM a WHERE a.task_id = d.task_id AND a.fence = d.fence) <> 1)::int
      AS failed_attempts_without_one_attribution,
    (SELECT count(*) FROM t WHERE state IN ('failed', 'expired') AND
      (SELECT count(*) FROM a WHERE a.task_id = t.id AND a.final) <> 1)::int AS failed_without_one_final,
    (SELECT count(*) FROM a JOIN t ON t.id = a.task_id WHERE a.final AND t.state NOT IN ('failed', 'expired'))::int
      AS other_finals,
    (SELECT count(*) FROM t WHERE fence <> (SELECT count(*) FROM d WHERE d.task_id = t.id)
      + (fence > 0 AND NOT EXISTS (SELECT 1 FROM d WHERE d.task_id = t.id AND d.fence = 1))::int)::int
      AS fence_not_its_deliveries,
    (SELECT count(*) FROM t WHERE max_attempts <
      (SELECT count(*) FROM d WHERE d.task_id = t.id AND outcome <> 'released'))::int AS attempts_over_limit`;

test('no sequence of calls breaks the books of the ledger', async () => {
  const op = fc.oneof(...OPS.map((name) => ({ arbitrary: fc.constant(name), weight: WEIGHTS[name] })));
  const step: fc.Arbitrary<Step> = fc.tuple(op, fc.nat(1000), fc.nat(1000));
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 120, size: 'max' }), async (steps) => {
      const run = new Run(`model-${++runs}`);
      await run.step(['register', 0, 0]);
      for (const next of steps) await run.step(next);
      await run.settle();
    }),
    { numRuns: 25, endOnFailure: true },
  );
}, 240_000);
