import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { packDecision, type Decision } from '../core/decision.js';
import { LANE_LOCK_SPACE } from '../platform/postgres/advisory-locks.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { isLockTimeout } from '../platform/postgres/sql-errors.js';
import { Sql, type SqlRunner } from '../platform/postgres/sql.js';
import type { Transport } from '../registry/agent-row.js';
import type { FallbackUsed } from './task-row.js';

const PICK = loadSql(import.meta.url, 'sql/pick.sql');
const OFFER = loadSql(import.meta.url, 'sql/offer.sql');
const OFFERS = loadSql(import.meta.url, 'sql/offers.sql');
const OFFERS_OF_LEASE = loadSql(import.meta.url, 'sql/offers_of_lease.sql');

/** A queued task, locked for the length of the transaction that places it. */
export interface PickedTask {
  id: string;
  fence: number;
  attempt: number;
  max_attempts: number;
  capability: string;
  /** JSON text, passed on as it is */
  payload: string;
  idempotent: boolean;
  affinity_key: string | null;
  parent_task_id: string | null;
  traceparent: string | null;
  ack_timeout_ms: number;
  execution_timeout_ms: number;
  /** The caller said so; else each delivery gets what suits its agent. */
  own_timeout: boolean;
  tried: string[];
  fallback: FallbackUsed | null;
  /** Until when it has to have started, and ended, from `read_at`; null: no limit. */
  start_in_ms: number | null;
  end_in_ms: number | null;
  /** Monotonic ms before it was read. */
  read_at: number;
  /** since it could start, in ms */
  waited_ms: number;
}

export interface OfferChoice {
  task: PickedTask;
  agentId: string;
  leaseId: string;
  transport: Transport;
  /** How long this delivery may run. */
  executionTimeoutMs: number;
  decision: Decision;
}

export interface OfferedTask extends Omit<
  PickedTask,
  'tried' | 'affinity_key' | 'max_attempts' | 'ack_timeout_ms' | 'own_timeout' | 'waited_ms'
> {
  deadline_at: Date;
}

/** The head of a lane while it is being placed. */
export class LaneHead {
  constructor(private readonly tx: SqlRunner) {}

  /** Up to `limit` queued tasks, best first, that nobody else is placing. */
  async pick(lane: string, limit: number): Promise<PickedTask[]> {
    const readAt = performance.now();
    return datedFrom(readAt, (await this.tx.run<PickedTask>('pick', PICK, [lane, limit])).rows);
  }

  /** Creates the deliveries; returns the ACK deadline by task id. */
  async offer(choices: readonly OfferChoice[]): Promise<Map<string, Date>> {
    const { rows } = await this.tx.run<{ id: string; deadline_at: Date }>('offer', OFFER, [
      choices.map((c) => c.task.id),
      choices.map((c) => c.task.fence),
      choices.map((c) => c.agentId),
      choices.map((c) => c.leaseId),
      choices.map((c) => c.transport),
      choices.map((c) => packDecision(c.decision)),
      choices.map((c) => c.executionTimeoutMs),
    ]);
    return new Map(rows.map((r) => [r.id, r.deadline_at]));
  }
}

@Injectable()
export class PlacementStore {
  /** How long a pass waits for another dispatcher's in the same lane, which usually takes a few milliseconds. */
  protected readonly turnTimeoutMs: number = 100;

  constructor(private readonly sql: Sql) {}

  /**
   * One placement, all or nothing. Dispatchers that place the same lane take turns, so that its tasks are offered in
   * their order. A dispatcher that stalls in its turn is not waited for: then each takes what the other has not locked.
   */
  async withHead<T>(lane: string, work: (head: LaneHead) => Promise<T>): Promise<T> {
    const place = (tx: SqlRunner): Promise<T> => work(new LaneHead(tx));
    let turn = false;
    try {
      return await this.sql.transaction(
        (tx) => {
          turn = true;
          return place(tx);
        },
        takeTurn(lane, this.turnTimeoutMs),
      );
    } catch (error) {
      if (turn || !isLockTimeout(error)) throw error;
      return this.sql.transaction(place);
    }
  }

  /** The offers behind deliveries, as far as they are still open. */
  async openOffers(
    refs: readonly { taskId: string; fence: number }[],
  ): Promise<(OfferedTask & { lease_id: string })[]> {
    const readAt = performance.now();
    const { rows } = await this.sql.run<OfferedTask & { lease_id: string }>('offers', OFFERS, [
      refs.map((r) => r.taskId),
      refs.map((r) => r.fence),
    ]);
    return datedFrom(readAt, rows);
  }

  /** Offers of a lease that wait for their ACK: sent again when its session was broken and is taken up again. */
  async offersOfLease(namespace: string, agentId: string, leaseId: string): Promise<OfferedTask[]> {
    const params = [namespace, agentId, leaseId];
    const readAt = performance.now();
    return datedFrom(
      readAt,
      (await this.sql.run<OfferedTask>('offers_of_lease', OFFERS_OF_LEASE, params)).rows,
    );
  }
}

/** What is left of the time of tasks counts from before they were read: rather too little than too much. */
function datedFrom<T extends { read_at: number }>(readAt: number, rows: T[]): T[] {
  for (const row of rows) row.read_at = readAt;
  return rows;
}

function takeTurn(lane: string, timeoutMs: number): string {
  const key = createHash('sha1').update(lane).digest().readInt32BE();
  return `SET LOCAL lock_timeout = ${timeoutMs};
    SELECT pg_advisory_xact_lock(${LANE_LOCK_SPACE}, ${key});
    SET LOCAL lock_timeout = DEFAULT`;
}
