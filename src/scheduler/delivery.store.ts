import { Injectable } from '@nestjs/common';
import type { DeliveryOutcome, DeliveryRef, TaskState } from '../core/task-state.js';
import { BatchWriter } from '../platform/postgres/batch-writer.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import { Outcomes, type Outcome } from './outcomes.js';
import { SchedulerMetrics } from './scheduler-metrics.js';
import { TaskNews } from './task-news.js';

const sqlOf = (name: string) => loadSql(import.meta.url, `sql/${name}.sql`);
const ACK = sqlOf('ack');
const PROGRESS = sqlOf('progress');
const COMPLETE = sqlOf('complete');
const CLOSE = sqlOf('close');
const CANCEL = sqlOf('cancel');
const INSPECT = sqlOf('inspect');

export interface LeasedRef extends DeliveryRef {
  leaseId: string;
}

export interface ProgressWrite extends LeasedRef {
  extendMs: number | null;
  note: string | null;
}

export interface ResultWrite extends LeasedRef {
  result: string;
  meta: string | null;
}

/** One delivery that did not succeed, and what becomes of its task. */
export interface CloseWrite extends LeasedRef {
  seen: 'offered' | 'running';
  outcome: Extract<DeliveryOutcome, 'failed' | 'released'>;
  code: string;
  next: 'scheduled' | 'queued' | 'failed';
  delayMs: number;
  error: string | null;
  attribution: {
    id: string;
    stage: string;
    blame: string;
    dependency: string | null;
    message: string;
    evidence: string;
  } | null;
}

/** What the ledger says of a delivery now. */
export interface Inspection {
  state: TaskState;
  fence: number;
  lease_id: string | null;
  agent_id: string | null;
  namespace: string;
  deadline_at: Date | null;
  transport: string | null;
  attempt: number;
  max_attempts: number;
  idempotent: boolean;
  capability: string;
  progress: { note?: string } | null;
  /** it has to have started */
  expired: boolean;
  /** how the asked-for delivery was closed, if it was */
  outcome: DeliveryOutcome | null;
  closed_code: string | null;
  closed_lease_id: string | null;
}

export interface Acknowledged {
  deadlineAt: Date;
  /** from now, which a clock of ours that is wrong does not change */
  deadlineInMs: number;
}

/** A delivery that runs on. */
export interface Noted {
  /** that holds now */
  deadlineAt: Date;
  namespace: string;
  capability: string;
  agentId: string;
}

export interface Canceled {
  was: TaskState;
}

const LIMITS = { maxBatch: 400, maxQueue: 50_000 } as const;

/**
 * Every change of a delivery, batched. Each is guarded by fence, lease and state; `undefined` says that the
 * guard did not hold and nothing changed. Consequences are reported once the statement has committed.
 */
@Injectable()
export class DeliveryStore {
  private readonly acks: BatchWriter<LeasedRef, Acknowledged | undefined>;
  /** Reads that come together share a statement too: after an outage agents repeat themselves by the thousand. */
  private readonly looks: BatchWriter<DeliveryRef, Inspection | undefined>;
  private readonly progresses: BatchWriter<ProgressWrite, Noted | undefined>;
  private readonly results: BatchWriter<ResultWrite, true | undefined>;
  private readonly closes: BatchWriter<CloseWrite, true | undefined>;
  private readonly cancels: BatchWriter<{ taskId: string; namespace: string }, Canceled | undefined>;

  constructor(
    private readonly sql: Sql,
    private readonly outcomes: Outcomes,
    private readonly metrics: SchedulerMetrics,
    private readonly news: TaskNews,
  ) {
    this.acks = new BatchWriter({ name: 'ack', ...LIMITS, write: (items) => this.writeAcks(items) });
    this.looks = new BatchWriter({ name: 'inspect', ...LIMITS, write: (refs) => this.inspectAll(refs) });
    this.progresses = new BatchWriter({
      name: 'progress',
      ...LIMITS,
      write: (items) => this.writeProgress(items),
    });
    this.results = new BatchWriter({
      name: 'complete',
      ...LIMITS,
      write: (items) => this.writeResults(items),
    });
    this.closes = new BatchWriter({ name: 'close', ...LIMITS, write: (items) => this.writeCloses(items) });
    this.cancels = new BatchWriter({ name: 'cancel', ...LIMITS, write: (items) => this.writeCancels(items) });
  }

  /** offered -> running; the execution deadline. */
  ack(ref: LeasedRef): Promise<Acknowledged | undefined> {
    return this.acks.write(ref);
  }

  /** Notes progress. */
  progress(write: ProgressWrite): Promise<Noted | undefined> {
    return this.progresses.write(write);
  }

  complete(write: ResultWrite): Promise<true | undefined> {
    return this.results.write(write);
  }

  close(write: CloseWrite): Promise<true | undefined> {
    return this.closes.write(write);
  }

  cancel(taskId: string, namespace: string): Promise<Canceled | undefined> {
    return this.cancels.write({ taskId, namespace });
  }

  /** What the ledger says of one delivery. */
  inspect(ref: DeliveryRef): Promise<Inspection | undefined> {
    return this.looks.write(ref);
  }

  async inspectAll(refs: readonly DeliveryRef[]): Promise<(Inspection | undefined)[]> {
    const { rows } = await this.sql.run<Inspection & { ord: number }>('inspect', INSPECT, [
      refs.map((r) => r.taskId),
      refs.map((r) => r.fence),
    ]);
    return inOrder(refs.length, rows);
  }

  private async writeAcks(refs: readonly LeasedRef[]): Promise<(Acknowledged | undefined)[]> {
    const { rows } = await this.sql.run<{
      ord: number;
      deadline_at: Date;
      deadline_in_ms: number;
      after_ms: number;
    }>('ack', ACK, leased(refs));
    for (const row of rows) this.metrics.acknowledged(row.after_ms);
    this.news.stepped(taskIdsOf(refs, rows));
    return inOrder(refs.length, rows).map(
      (row) => row && { deadlineAt: row.deadline_at, deadlineInMs: row.deadline_in_ms },
    );
  }

  private async writeProgress(items: readonly ProgressWrite[]): Promise<(Noted | undefined)[]> {
    const { rows } = await this.sql.run<{
      ord: number;
      deadline_at: Date;
      namespace: string;
      capability: string;
      agent_id: string;
    }>('progress', PROGRESS, [...leased(items), items.map((i) => i.extendMs), items.map((i) => i.note)]);
    this.news.stepped(taskIdsOf(items, rows));
    return inOrder(items.length, rows).map(
      (row) =>
        row && {
          deadlineAt: row.deadline_at,
          namespace: row.namespace,
          capability: row.capability,
          agentId: row.agent_id,
        },
    );
  }

  private async writeResults(items: readonly ResultWrite[]): Promise<(true | undefined)[]> {
    const { rows } = await this.sql.run<ClosedRow>('complete', COMPLETE, [
      ...leased(items),
      items.map((i) => i.result),
      items.map((i) => i.meta),
    ]);
    this.outcomes.report(
      rows.map((row) => outcomeOf(items[row.ord - 1] as ResultWrite, row, 'succeeded', undefined)),
    );
    return inOrder(items.length, rows).map((row) => (row === undefined ? undefined : true));
  }

  private async writeCloses(items: readonly CloseWrite[]): Promise<(true | undefined)[]> {
    const attributions = items.map((i) => i.attribution);
    const { rows } = await this.sql.run<ClosedRow>('close', CLOSE, [
      ...leased(items),
      items.map((i) => i.seen),
      items.map((i) => i.outcome),
      items.map((i) => i.code),
      items.map((i) => i.next),
      items.map((i) => i.delayMs),
      items.map((i) => i.error),
      attributions.map((a) => a?.id ?? null),
      attributions.map((a) => a?.stage ?? null),
      attributions.map((a) => a?.blame ?? null),
      attributions.map((a) => a?.dependency ?? null),
      attributions.map((a) => a?.message ?? null),
      attributions.map((a) => a?.evidence ?? null),
    ]);
    this.outcomes.report(
      rows.map((row) => {
        const item = items[row.ord - 1] as CloseWrite;
        return outcomeOf(item, row, item.next, item.code);
      }),
    );
    return inOrder(items.length, rows).map((row) => (row === undefined ? undefined : true));
  }

  private async writeCancels(
    items: readonly { taskId: string; namespace: string }[],
  ): Promise<(Canceled | undefined)[]> {
    const { rows } = await this.sql.run<ClosedRow & { was: TaskState; fence: number }>('cancel', CANCEL, [
      items.map((i) => i.taskId),
      items.map((i) => i.namespace),
    ]);
    this.outcomes.report(
      rows.map((row): Outcome => {
        const taskId = (items[row.ord - 1] as { taskId: string }).taskId;
        const held = row.was === 'offered' || row.was === 'running';
        return held
          ? outcomeOf({ taskId, fence: row.fence }, row, 'canceled', 'CANCELED')
          : {
              taskId,
              state: 'canceled',
              lane: row.lane,
              capability: row.capability,
              depth: -1,
              code: 'CANCELED',
            };
      }),
    );
    return inOrder(items.length, rows);
  }
}

interface ClosedRow {
  ord: number;
  namespace: string;
  agent_id: string;
  lane: string;
  capability: string;
  /** from the ACK to the result, of a delivery that succeeded */
  ran_ms?: number;
  /** from the ACK, or the offer, to the end, of one that failed */
  took_ms?: number;
  /** on how many other agents the task was tried before */
  elsewhere?: number;
}

function outcomeOf(ref: DeliveryRef, row: ClosedRow, state: TaskState, code: string | undefined): Outcome {
  const tookMs = row.ran_ms ?? row.took_ms;
  return {
    taskId: ref.taskId,
    state,
    lane: row.lane,
    capability: row.capability,
    ...(row.ran_ms !== undefined && { ranMs: row.ran_ms }),
    ...((state === 'scheduled' || state === 'queued') && { depth: 1 as const }),
    closed: {
      namespace: row.namespace,
      agentId: row.agent_id,
      fence: ref.fence,
      ...(code !== undefined && { code }),
      ...(tookMs !== undefined && { tookMs }),
      ...(row.elsewhere !== undefined && { elsewhere: row.elsewhere }),
    },
  };
}

function leased(refs: readonly LeasedRef[]): unknown[][] {
  return [refs.map((r) => r.taskId), refs.map((r) => r.fence), refs.map((r) => r.leaseId)];
}

function taskIdsOf(refs: readonly DeliveryRef[], rows: readonly { ord: number }[]): string[] {
  return rows.map((row) => (refs[row.ord - 1] as DeliveryRef).taskId);
}

function inOrder<R extends { ord: number }>(length: number, rows: readonly R[]): (R | undefined)[] {
  const ordered = new Array<R | undefined>(length).fill(undefined);
  for (const row of rows) ordered[row.ord - 1] = row;
  return ordered;
}
