import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { CatchUp, Overlap } from '../../core/schedule.js';
import { loadSql } from '../../platform/postgres/sql-file.js';
import { Sql, type SqlRunner, type SqlTransaction } from '../../platform/postgres/sql.js';
import type { firingView, ScheduleBody, ScheduledTask } from './schedule.wire.js';

const sqlOf = (name: string) => loadSql(import.meta.url, `sql/${name}.sql`);
const SCHEDULE = sqlOf('schedule');
const SCHEDULES_PAGE = sqlOf('schedules_page');
const SCHEDULES_DUE = sqlOf('schedules_due');
const SCHEDULES_MOVE = sqlOf('schedules_move');
const SCHEDULES_BUSY = sqlOf('schedules_busy');
const SCHEDULE_WRITE = sqlOf('schedule_write');
const SCHEDULE_REMOVE = sqlOf('schedule_remove');
const SCHEDULE_PAUSE = sqlOf('schedule_pause');
const FIRINGS = sqlOf('firings');
const FIRINGS_ADD = sqlOf('firings_add');
const FIRINGS_PURGE = sqlOf('firings_purge');

/** Firings that are shown of one schedule. */
const SHOWN = 50;

export interface ScheduleRow {
  namespace: string;
  schedule_id: string;
  cron: string;
  timezone: string;
  start_at: Date | null;
  end_at: Date | null;
  catch_up: CatchUp;
  catch_up_limit: number;
  jitter_ms: number;
  overlap: Overlap;
  task: ScheduledTask;
  paused: boolean;
  pause_reason: string;
  next_at: Date | null;
  due_at: Date | null;
  waiting_at: Date | null;
  problem: string | null;
  changed_by: string;
  changed_at: Date;
  /** The time of the ledger as it was read. */
  now: Date;
}

export interface FiringRow {
  fire_at: Date;
  outcome: z.output<typeof firingView>['outcome'];
  task_id: string | null;
  detail: string | null;
  noted_at: Date;
}

/** A fire time, and what came of it. */
export interface Firing {
  namespace: string;
  scheduleId: string;
  at: Date;
  outcome: FiringRow['outcome'];
  taskId: string | null;
  detail: string | null;
}

/** When a schedule is looked at again. */
export interface Move {
  namespace: string;
  scheduleId: string;
  nextAt: Date | null;
  dueAt: Date | null;
  waitingAt: Date | null;
  problem: string | null;
}

/** What the fire times of a schedule come from. */
export type Timing = Pick<
  ScheduleRow,
  'namespace' | 'schedule_id' | 'cron' | 'timezone' | 'start_at' | 'end_at' | 'jitter_ms'
>;

/** Every statement on schedules. */
@Injectable()
export class ScheduleStore {
  constructor(private readonly sql: Sql) {}

  transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
    return this.sql.transaction(work);
  }

  /** @param lock in a transaction: nobody else changes it until the end of it */
  async find(
    namespace: string,
    id: string,
    on: SqlRunner = this.sql,
    lock = false,
  ): Promise<ScheduleRow | undefined> {
    const text = lock ? `${SCHEDULE} FOR UPDATE` : SCHEDULE;
    const name = lock ? 'schedule_locked' : 'schedule';
    return (await on.run<ScheduleRow>(name, text, [namespace, id])).rows[0];
  }

  /** By id. */
  async page(namespace: string, after: string | null, limit: number): Promise<ScheduleRow[]> {
    return (await this.sql.run<ScheduleRow>('schedules_page', SCHEDULES_PAGE, [namespace, after, limit]))
      .rows;
  }

  /** The time of the ledger. */
  async now(on: SqlRunner = this.sql): Promise<Date> {
    const { rows } = await on.run<{ now: Date }>('now', 'SELECT now() AS now');
    return (rows[0] as { now: Date }).now;
  }

  async write(
    tx: SqlRunner,
    timing: Timing,
    body: Pick<ScheduleBody, 'catch_up' | 'catch_up_limit' | 'overlap' | 'task'>,
    when: Pick<Move, 'nextAt' | 'dueAt' | 'waitingAt'>,
    by: string,
  ): Promise<ScheduleRow> {
    const { rows } = await tx.run<ScheduleRow>('schedule_write', SCHEDULE_WRITE, [
      timing.namespace,
      timing.schedule_id,
      timing.cron,
      timing.timezone,
      timing.start_at,
      timing.end_at,
      body.catch_up,
      body.catch_up_limit,
      timing.jitter_ms,
      body.overlap,
      JSON.stringify(body.task),
      when.nextAt,
      when.dueAt,
      when.waitingAt,
      by,
    ]);
    return rows[0] as ScheduleRow;
  }

  async remove(namespace: string, id: string): Promise<ScheduleRow | undefined> {
    return (await this.sql.run<ScheduleRow>('schedule_remove', SCHEDULE_REMOVE, [namespace, id])).rows[0];
  }

  async setPaused(
    tx: SqlRunner,
    row: ScheduleRow,
    pause: { reason: string } | undefined,
    nextAt: Date | null,
    dueAt: Date | null,
    by: string,
  ): Promise<ScheduleRow> {
    const { rows } = await tx.run<ScheduleRow>('schedule_pause', SCHEDULE_PAUSE, [
      row.namespace,
      row.schedule_id,
      pause !== undefined,
      pause?.reason ?? '',
      nextAt,
      dueAt,
      by,
    ]);
    return rows[0] as ScheduleRow;
  }

  /** Schedules that are due, or have a fire time that waits: locked, without those that another replica has locked. */
  async due(tx: SqlRunner, limit: number): Promise<ScheduleRow[]> {
    return (await tx.run<ScheduleRow>('schedules_due', SCHEDULES_DUE, [limit])).rows;
  }

  /** Which of these have a task that has not ended. */
  async busy(tx: SqlRunner, rows: readonly ScheduleRow[]): Promise<Set<ScheduleRow>> {
    if (rows.length === 0) return new Set();
    const { rows: busy } = await tx.run<{ ord: number }>('schedules_busy', SCHEDULES_BUSY, [
      rows.map((r) => r.namespace),
      rows.map((r) => r.schedule_id),
    ]);
    return new Set(busy.map(({ ord }) => rows[ord - 1] as ScheduleRow));
  }

  /** Notes what came of fire times. A fire time that is noted already is not among the answer: it has fired. */
  async note(tx: SqlRunner, firings: readonly Firing[]): Promise<Firing[]> {
    if (firings.length === 0) return [];
    const { rows } = await tx.run<{ ord: number }>('firings_add', FIRINGS_ADD, [
      firings.map((f) => f.namespace),
      firings.map((f) => f.scheduleId),
      firings.map((f) => f.at),
      firings.map((f) => f.outcome),
      firings.map((f) => f.taskId),
      firings.map((f) => f.detail),
    ]);
    return rows.map(({ ord }) => firings[ord - 1] as Firing);
  }

  async move(tx: SqlRunner, moves: readonly Move[]): Promise<void> {
    await tx.run('schedules_move', SCHEDULES_MOVE, [
      moves.map((m) => m.namespace),
      moves.map((m) => m.scheduleId),
      moves.map((m) => m.nextAt),
      moves.map((m) => m.dueAt),
      moves.map((m) => m.waitingAt),
      moves.map((m) => m.problem),
    ]);
  }

  /** The last ones, newest first. */
  async firings(namespace: string, id: string): Promise<FiringRow[]> {
    return (await this.sql.run<FiringRow>('firings', FIRINGS, [namespace, id, SHOWN])).rows;
  }

  /** Forgets firings that are older, some at a time. */
  async purge(days: number, limit: number): Promise<void> {
    await this.sql.run('firings_purge', FIRINGS_PURGE, [days, limit]);
  }
}
