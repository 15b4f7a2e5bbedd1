import type { CronTimes } from '../../core/cron.js';
import { dueTimes, withoutOverlap } from '../../core/schedule.js';
import { dueTime } from './schedule-times.js';
import type { Firing, ScheduleRow } from './schedule.store.js';

/** What is to become of a schedule that is due. Times are in Unix ms. */
export interface FiringPlan {
  /** Fire times to fire, the oldest first. */
  fire: number[];
  /** Fire times that do not fire, with why. */
  notes: Firing[];
  nextAt: number | undefined;
  waitingAt: number | undefined;
}

/** @param busy a task of an earlier firing has not ended */
export function planFirings(row: ScheduleRow, times: CronTimes, busy: boolean): FiringPlan {
  const { due, nextAt, notes } = dueOf(row, times);
  const waiting = row.waiting_at?.getTime();
  const held = withoutOverlap({ overlap: row.overlap, busy, waiting, due });
  for (const at of held.skipped)
    notes.push(firingOf(row, at, 'skipped', 'a task of an earlier firing had not ended'));
  return { fire: held.fire, notes, nextAt, waitingAt: held.waiting };
}

function dueOf(
  row: ScheduleRow,
  times: CronTimes,
): { due: number[]; nextAt: number | undefined; notes: Firing[] } {
  const nextAt = row.next_at?.getTime();
  // It may be looked at before its time, for the one that waits.
  if (nextAt === undefined || dueTime(row, times, nextAt) > row.now.getTime())
    return { due: [], nextAt, notes: [] };
  const { fire, missed, next } = dueTimes(times, {
    nextAt,
    now: row.now.getTime(),
    endAt: row.end_at?.getTime(),
    catchUp: row.catch_up,
    limit: row.catch_up_limit,
    jitterMs: row.jitter_ms,
  });
  if (missed === undefined) return { due: fire, nextAt: next, notes: [] };
  const [from, to] = [missed.from, missed.to].map((at) => new Date(at).toISOString());
  const what =
    from === to ? 'it passed and was not caught up' : `all up to ${to} passed and were not caught up`;
  return {
    due: fire,
    nextAt: next,
    notes: [firingOf(row, missed.from, 'missed', `${what} (catch_up is ${row.catch_up})`)],
  };
}

/** A fire time, and what came of it. */
export function firingOf(
  row: ScheduleRow,
  at: number,
  outcome: Firing['outcome'],
  detail: string | null,
  taskId: string | null = null,
): Firing {
  const { namespace, schedule_id: scheduleId } = row;
  return { namespace, scheduleId, at: new Date(at), outcome, taskId, detail };
}
