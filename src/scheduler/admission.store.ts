import { Injectable } from '@nestjs/common';
import { packDecision } from '../core/decision.js';
import { streamOf, Turns } from '../core/fair-share.js';
import { ReachError } from '../core/errors.js';
import type { TaskState } from '../core/task-state.js';
import { BatchWriter } from '../platform/postgres/batch-writer.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql, type SqlRunner } from '../platform/postgres/sql.js';
import type { OfferChoice } from './placement.store.js';

const ADMIT = loadSql(import.meta.url, 'sql/admit.sql');
const FIND_ADMITTED = loadSql(import.meta.url, 'sql/find_admitted.sql');

/** A validated task on its way into the ledger. JSON columns are texts; absent values null. */
export interface NewTask {
  id: string;
  namespace: string;
  lane: string;
  capability: string;
  /** The name that was asked for, where that was an alias. */
  asked: string | null;
  payload: string;
  priority: number;
  idempotent: boolean;
  affinityKey: string | null;
  parentTaskId: string | null;
  /** The agents that handle its ancestors, as JSON text; null: it has none. */
  chain: string | null;
  retryOf: string | null;
  callbackUrl: string | null;
  traceparent: string | null;
  ackTimeoutMs: number;
  executionTimeoutMs: number;
  /** Whether its caller said so; else each delivery gets what suits its agent. */
  ownTimeout: boolean;
  maxAttempts: number;
  delayMs: number;
  runAt: string | null;
  expiresInMs: number | null;
  /** Of the whole task. */
  timeoutMs: number | null;
  key: string | null;
  bodyDigest: string | null;
  /** Who submitted it: callers take turns in a lane. */
  caller: string;
}

/** The agent that a task is to be offered to as it is inserted. */
export type FirstOffer = Omit<OfferChoice, 'task'>;

export type Admitted =
  /** `deadlineAt` is unknown after an insert whose first answer was lost. */
  | { added: true; state: TaskState; deadlineAt: Date | null; deadlineInMs: number | null }
  /** The id or the key stood in the ledger already. */
  | { added: false; taskId: string; state: TaskState; bodyDigest: string | null };

interface NewRow {
  task: NewTask;
  seat: { readonly offer: FirstOffer | undefined } | undefined;
}

/** Writes tasks into the ledger: what has been answered stands committed. */
@Injectable()
export class AdmissionStore {
  private readonly writer: BatchWriter<NewRow, Admitted>;

  constructor(
    private readonly sql: Sql,
    private readonly turns: Turns = new Turns(),
  ) {
    this.writer = new BatchWriter({
      name: 'admit',
      maxBatch: 400,
      maxQueue: 20_000,
      write: (rows) => this.writeTasks(rows),
    });
  }

  /**
   * Inserts a task and its idempotency key; where there is an offer when it is written, and while no other task waits
   * in its lane, as offered.
   * @throws Overloaded when too many wait to be written
   */
  add(task: NewTask, seat?: { readonly offer: FirstOffer | undefined }): Promise<Admitted> {
    return this.writer.write({ task, seat });
  }

  /** Inserts new tasks without keys in a transaction; in order. */
  addWithin(tx: SqlRunner, tasks: readonly NewTask[]): Promise<Admitted[]> {
    return this.writeTasks(
      tasks.map((task) => ({ task, seat: undefined })),
      tx,
    );
  }

  /** What stands under the key, if anything does. */
  async findByKey(namespace: string, key: string, id: string): Promise<Admitted | undefined> {
    const [found] = await this.find([{ id, namespace, key }]);
    return found;
  }

  private async writeTasks(items: readonly NewRow[], on: SqlRunner = this.sql): Promise<Admitted[]> {
    const tasks = items.map((i) => i.task);
    const { rows } = await on.run<{
      id: string;
      state: TaskState;
      deadline_at: Date | null;
      deadline_in_ms: number | null;
      turn: number;
    }>('admit', ADMIT, [...columns(items), ...this.turns.columnsOf(tasks), tasks.map((t) => t.caller)]);
    const added = new Map(rows.map((row) => [row.id, row]));
    const answers = tasks.map((task): Admitted | undefined => {
      const row = added.get(task.id);
      if (row !== undefined) this.turns.note(task.lane, streamOf(task), row.turn);
      return (
        row && {
          added: true,
          state: row.state,
          deadlineAt: row.deadline_at,
          deadlineInMs: row.deadline_in_ms,
        }
      );
    });
    if (rows.length < tasks.length) await this.explainMissing(tasks, answers);
    return answers as Admitted[];
  }

  /** Rows that were left alone: their key is taken, or an earlier try of this very statement committed. */
  private async explainMissing(tasks: readonly NewTask[], answers: (Admitted | undefined)[]): Promise<void> {
    const missing = tasks.flatMap((task, at) => (answers[at] === undefined ? [{ task, at }] : []));
    const found = await this.find(missing.map((m) => m.task));
    missing.forEach(({ task, at }, i) => {
      const known = found[i];
      if (known === undefined || known.added)
        throw new ReachError(
          'STATE_CONFLICT',
          `the idempotency key ${JSON.stringify(task.key)} named a task that is not kept any more; use a new key`,
        );
      answers[at] =
        known.taskId === task.id
          ? { added: true, state: known.state, deadlineAt: null, deadlineInMs: null }
          : known;
    });
  }

  private async find(
    tasks: readonly { id: string; namespace: string; key: string | null }[],
  ): Promise<(Admitted | undefined)[]> {
    const { rows } = await this.sql.run<{
      ord: number;
      task_id: string;
      state: TaskState;
      body_digest: string | null;
    }>('find_admitted', FIND_ADMITTED, [
      tasks.map((t) => t.id),
      tasks.map((t) => t.namespace),
      tasks.map((t) => t.key),
    ]);
    const found = new Array<Admitted | undefined>(tasks.length).fill(undefined);
    for (const r of rows)
      found[r.ord - 1] = { added: false, taskId: r.task_id, state: r.state, bodyDigest: r.body_digest };
    return found;
  }
}

function columns(rows: readonly NewRow[]): unknown[] {
  const tasks = rows.map((r) => r.task);
  const offers = rows.map((r) => r.seat?.offer);
  return [
    tasks.map((t) => t.id),
    tasks.map((t) => t.namespace),
    tasks.map((t) => t.lane),
    tasks.map((t) => t.capability),
    tasks.map((t) => t.payload),
    tasks.map((t) => t.priority),
    tasks.map((t) => t.idempotent),
    tasks.map((t) => t.affinityKey),
    tasks.map((t) => t.parentTaskId),
    tasks.map((t) => t.retryOf),
    tasks.map((t) => t.callbackUrl),
    tasks.map((t) => t.traceparent),
    tasks.map((t) => t.ackTimeoutMs),
    tasks.map((t, i) => offers[i]?.executionTimeoutMs ?? t.executionTimeoutMs),
    tasks.map((t) => t.maxAttempts),
    tasks.map((t) => t.delayMs),
    tasks.map((t) => t.runAt),
    tasks.map((t) => t.expiresInMs),
    tasks.map((t) => t.key),
    tasks.map((t) => t.bodyDigest),
    offers.map((o) => o?.agentId ?? null),
    offers.map((o) => o?.leaseId ?? null),
    offers.map((o) => o?.transport ?? null),
    rows.map((r) => r.seat !== undefined),
    offers.map((o) => (o === undefined ? null : packDecision(o.decision))),
    tasks.map((t) => t.ownTimeout),
    tasks.map((t) => t.timeoutMs),
    tasks.map((t) => t.asked),
    tasks.map((t) => t.chain),
  ];
}
