import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { ReachError } from '../../core/errors.js';
import { besideTimes } from '../../core/schedule.js';
import type { SqlRunner } from '../../platform/postgres/sql.js';
import { invalidAt } from '../requirement.js';
import { ScheduledTasks } from './scheduled-tasks.js';
import { nextTime, requireTimes, underTask, upcoming } from './schedule-times.js';
import { type FiringRow, type ScheduleRow, ScheduleStore, type Timing } from './schedule.store.js';
import type {
  firingView,
  ScheduleBody,
  scheduleDetail,
  scheduleView,
  triggerAnswer,
} from './schedule.wire.js';

/** Fire times that are shown ahead. */
const AHEAD = 5;

/** What callers do with schedules. */
@Injectable()
export class Schedules {
  constructor(
    private readonly store: ScheduleStore,
    private readonly tasks: ScheduledTasks,
  ) {}

  /**
   * Creates or replaces a schedule. Where its times stay the same, a fire time that is due stays due.
   * @throws ReachError VALIDATION_FAILED
   */
  async write(id: string, body: ScheduleBody, by: string): Promise<z.input<typeof scheduleDetail>> {
    const times = requireTimes(body.cron, body.timezone);
    if (times.after(0) === undefined) throw invalidAt('/cron', `${body.cron} fits no date`);
    if (
      body.start_at !== undefined &&
      body.end_at !== undefined &&
      Date.parse(body.start_at) > Date.parse(body.end_at)
    )
      throw invalidAt('/end_at', 'is before start_at');
    try {
      this.tasks.prepare(body.namespace, body.task);
    } catch (error) {
      throw underTask(error);
    }
    const row = await this.store.transaction(async (tx) => {
      const before = await this.store.find(body.namespace, id, tx, true);
      const timing = timingOf(id, body);
      const waitingAt = body.overlap === 'queue' ? (before?.waiting_at ?? null) : null;
      const when =
        before !== undefined && sameTimes(before, timing)
          ? { nextAt: before.next_at, dueAt: before.due_at }
          : nextTime(timing, times, before?.now ?? (await this.store.now(tx)));
      return this.store.write(tx, timing, body, { ...when, waitingAt }, by);
    });
    return toDetail(row, await this.store.firings(row.namespace, id));
  }

  /** @throws ReachError NOT_FOUND */
  async get(namespace: string, id: string): Promise<z.input<typeof scheduleDetail>> {
    const row = await this.store.find(namespace, id);
    if (row === undefined) throw notFound(namespace, id);
    return toDetail(row, await this.store.firings(namespace, id));
  }

  /** What it did goes with it; its tasks go on. @throws ReachError NOT_FOUND */
  async remove(namespace: string, id: string): Promise<z.input<typeof scheduleView>> {
    const row = await this.store.remove(namespace, id);
    if (row === undefined) throw notFound(namespace, id);
    return toScheduleView(row);
  }

  /** No fire time fires until it is resumed, and those that pass meanwhile are not caught up. @throws ReachError NOT_FOUND */
  pause(namespace: string, id: string, reason: string, by: string): Promise<z.input<typeof scheduleView>> {
    return this.change(namespace, id, (row, tx) =>
      this.store.setPaused(tx, row, { reason }, row.next_at, dueOf(row), by),
    );
  }

  /** @throws ReachError NOT_FOUND */
  resume(namespace: string, id: string, by: string): Promise<z.input<typeof scheduleView>> {
    return this.change(namespace, id, (row, tx) => {
      if (!row.paused) return Promise.resolve(row);
      const { nextAt, dueAt } = nextTime(row, requireTimes(row.cron, row.timezone), row.now);
      return this.store.setPaused(tx, row, undefined, nextAt, dueAt, by);
    });
  }

  /**
   * Fires now, beside its times, paused or not, whatever runs.
   * @throws ReachError NOT_FOUND, QUEUE_FULL
   */
  async trigger(namespace: string, id: string): Promise<z.input<typeof triggerAnswer>> {
    const row = await this.store.find(namespace, id);
    if (row === undefined) throw notFound(namespace, id);
    const task = this.tasks.prepare(namespace, row.task);
    if ((await this.tasks.reserve([task])) === 0) throw this.tasks.full(task);
    try {
      const admitted = await this.store.transaction(async (tx) => {
        const locked = await this.store.find(namespace, id, tx, true);
        if (locked === undefined) throw notFound(namespace, id);
        const firing = {
          namespace,
          scheduleId: id,
          outcome: 'triggered',
          taskId: task.id,
          detail: null,
        } as const;
        // Of two within a millisecond the second is noted a millisecond later. Were it noted at a fire time, that would count
        // as fired.
        for (let at = besideTimes(locked.now.getTime()); ; at = besideTimes(at + 1))
          if ((await this.store.note(tx, [{ ...firing, at: new Date(at) }])).length > 0) break;
        return this.tasks.insert(tx, [task]);
      });
      this.tasks.announce([task], admitted);
    } catch (error) {
      this.tasks.giveBack([task]);
      throw error;
    }
    return { schedule_id: id, task_id: task.id };
  }

  private async change(
    namespace: string,
    id: string,
    work: (row: ScheduleRow, tx: SqlRunner) => Promise<ScheduleRow>,
  ): Promise<z.input<typeof scheduleView>> {
    const changed = await this.store.transaction(async (tx) => {
      const row = await this.store.find(namespace, id, tx, true);
      return row && work(row, tx);
    });
    if (changed === undefined) throw notFound(namespace, id);
    return toScheduleView(changed);
  }
}

function timingOf(id: string, body: ScheduleBody): Timing {
  const { namespace, cron, timezone, jitter_ms, start_at: start, end_at: end } = body;
  return {
    namespace,
    schedule_id: id,
    cron,
    timezone,
    jitter_ms,
    start_at: start === undefined ? null : new Date(start),
    end_at: end === undefined ? null : new Date(end),
  };
}

function sameTimes(a: Timing, b: Timing): boolean {
  return (
    a.cron === b.cron &&
    a.timezone === b.timezone &&
    a.jitter_ms === b.jitter_ms &&
    a.start_at?.getTime() === b.start_at?.getTime() &&
    a.end_at?.getTime() === b.end_at?.getTime()
  );
}

/** When the next fire time is due; whatever waits waits no more. */
function dueOf(row: ScheduleRow): Date | null {
  return row.next_at === null ? null : row.due_at;
}

/** The schedule as lists show it. */
export function toScheduleView(row: ScheduleRow): z.input<typeof scheduleView> {
  return {
    namespace: row.namespace,
    schedule_id: row.schedule_id,
    cron: row.cron,
    timezone: row.timezone,
    ...(row.start_at !== null && { start_at: row.start_at.toISOString() }),
    ...(row.end_at !== null && { end_at: row.end_at.toISOString() }),
    jitter_ms: row.jitter_ms,
    catch_up: row.catch_up,
    catch_up_limit: row.catch_up_limit,
    overlap: row.overlap,
    task: row.task,
    paused: row.paused,
    ...(row.pause_reason !== '' && { pause_reason: row.pause_reason }),
    ...(row.next_at !== null && { next_at: row.next_at.toISOString() }),
    ...(row.waiting_at !== null && { waiting_at: row.waiting_at.toISOString() }),
    ...(row.problem !== null && { problem: row.problem }),
    changed_by: row.changed_by,
    changed_at: row.changed_at.toISOString(),
  };
}

function toDetail(row: ScheduleRow, firings: readonly FiringRow[]): z.input<typeof scheduleDetail> {
  const next = row.paused ? [] : upcoming(row, AHEAD).map((at) => at.toISOString());
  return { ...toScheduleView(row), next, firings: firings.map(toFiringView) };
}

function toFiringView(f: FiringRow): z.input<typeof firingView> {
  return {
    fire_at: f.fire_at.toISOString(),
    outcome: f.outcome,
    ...(f.task_id !== null && { task_id: f.task_id }),
    ...(f.detail !== null && { detail: f.detail }),
    noted_at: f.noted_at.toISOString(),
  };
}

function notFound(namespace: string, id: string): ReachError {
  return new ReachError('NOT_FOUND', `there is no schedule ${id} in namespace ${namespace}`);
}
