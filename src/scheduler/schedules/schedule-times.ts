import { CronProblem, CronTimes } from '../../core/cron.js';
import { ReachError } from '../../core/errors.js';
import { hash32 } from '../../core/hash.js';
import { jitterOf, upTo } from '../../core/schedule.js';
import { invalidAt } from '../requirement.js';
import type { ScheduleRow, Timing } from './schedule.store.js';

export interface NextTime {
  nextAt: Date | null;
  /** When it is fired, later by the jitter. */
  dueAt: Date | null;
}

/** The first fire time of a schedule after `now`, within its start and end. */
export function nextTime(timing: Timing, times: CronTimes, now: Date): NextTime {
  const from = Math.max(now.getTime(), (timing.start_at?.getTime() ?? 0) - 1);
  const at = upTo(times.after(from), timing.end_at?.getTime());
  return at === undefined
    ? { nextAt: null, dueAt: null }
    : { nextAt: new Date(at), dueAt: new Date(dueTime(timing, times, at)) };
}

/** When a fire time is to fire. The same on every replica. */
export function dueTime(timing: Timing, times: CronTimes, at: number): number {
  if (timing.jitter_ms === 0) return at;
  const share = hash32(`${timing.namespace}\n${timing.schedule_id}\n${at}`) / 2 ** 32;
  return at + jitterOf(timing.jitter_ms, at, times.after(at), share);
}

/** The next `count` fire times, the one that is due among them. */
export function upcoming(row: ScheduleRow, count: number): Date[] {
  if (row.next_at === null) return [];
  const first = row.next_at.getTime();
  const rest = new CronTimes(row.cron, row.timezone).series(first, count - 1);
  return [first, ...rest]
    .filter((at) => upTo(at, row.end_at?.getTime()) !== undefined)
    .map((at) => new Date(at));
}

/** @throws ReachError VALIDATION_FAILED that names the field */
export function requireTimes(cron: string, timezone: string): CronTimes {
  try {
    return new CronTimes(cron, timezone);
  } catch (error) {
    if (error instanceof CronProblem) throw invalidAt(`/${error.field}`, error.message);
    throw error;
  }
}

/** The same error, of a part of the body that stands under `/task`. */
export function underTask(error: unknown): unknown {
  const errors = error instanceof ReachError ? error.extra.errors : undefined;
  if (!(error instanceof ReachError) || errors === undefined) return error;
  return new ReachError(error.code, error.message, {
    ...error.extra,
    errors: errors.map((e) => ({ ...e, pointer: `/task${e.pointer}` })),
  });
}
