import type { CronTimes } from './cron.js';

/** Which of several fire times that were missed fire late. */
export const CATCH_UPS = ['none', 'last', 'all'] as const;
export type CatchUp = (typeof CATCH_UPS)[number];

/** What becomes of a fire time while a task of an earlier one has not ended. */
export const OVERLAPS = ['allow', 'skip', 'queue'] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** How late a fire time may be and still count as on time. */
const ON_TIME_MS = 60_000;

export interface DueQuestion {
  /** The fire time that came due. */
  nextAt: number;
  now: number;
  /** No fire time after it counts. */
  endAt: number | undefined;
  catchUp: CatchUp;
  /** Most that are caught up with `all`. */
  limit: number;
  /** By how much a fire time may be put off on purpose. */
  jitterMs: number;
}

export interface DueAnswer {
  /** Fire times that fire now, the oldest first. */
  fire: number[];
  /** Fire times were let go; from the first of them to the last. */
  missed: { from: number; to: number } | undefined;
  /** The next one after now; undefined: there is none any more. */
  next: number | undefined;
}

/**
 * What is to be done when a schedule is due. Usually one time fires. Where more have passed (the centre was away), or the
 * only one is over a minute late: `none` lets them go, save the latest if it is on time; `last` fires the latest; `all`
 * fires the latest `limit` of them.
 */
export function dueTimes(times: CronTimes, q: DueQuestion): DueAnswer {
  const next = upTo(times.after(q.now), q.endAt);
  const horizon = Math.min(q.now, q.endAt ?? q.now);
  const wanted = q.catchUp === 'all' ? q.limit : 1;
  // The one that is due is known, and stands whatever the expression says by now.
  const following = times.after(q.nextAt);
  // Usually none has passed since: looking back costs the more, the more there may be.
  const past =
    following === undefined || following > horizon
      ? []
      : times.until(horizon, wanted + 1).filter((at) => at > q.nextAt);
  const due = [q.nextAt, ...past];
  const fire = due
    .slice(-wanted)
    .filter((at) => q.catchUp !== 'none' || q.now - at <= ON_TIME_MS + q.jitterMs);
  const kept = fire[0] ?? Infinity;
  if (kept <= q.nextAt) return { fire, missed: undefined, next };
  const last = fire.length === 0 ? due.at(-1) : times.until(kept - 1000, 1)[0];
  return { fire, missed: { from: q.nextAt, to: Math.max(q.nextAt, last ?? q.nextAt) }, next };
}

/** `at`, unless it comes after `end`. */
export function upTo(at: number | undefined, end: number | undefined): number | undefined {
  return at === undefined || (end !== undefined && at > end) ? undefined : at;
}

/**
 * By how much a fire time is put off: anything up to `jitterMs`, but never to the one that follows. The same for all who
 * ask: `share` is 0 to 1 out of a hash of the schedule and the time.
 */
export function jitterOf(jitterMs: number, at: number, following: number | undefined, share: number): number {
  const room = following === undefined ? jitterMs : Math.min(jitterMs, following - at - 1000);
  return Math.floor(Math.max(0, room) * share);
}

/** A time beside those of every expression, from `at` on: theirs are whole seconds. */
export function besideTimes(at: number): number {
  return at % 1000 === 0 ? at + 1 : at;
}

export interface OverlapQuestion {
  overlap: Overlap;
  /** A task of an earlier firing has not ended. */
  busy: boolean;
  /** The fire time that has waited for it. */
  waiting: number | undefined;
  /** Fire times that are due, the oldest first. */
  due: readonly number[];
}

export interface OverlapAnswer {
  fire: number[];
  skipped: number[];
  waiting: number | undefined;
}

/** Which of the due times fire where no two tasks of a schedule shall run at once; of those that `queue`, one waits. */
export function withoutOverlap({ overlap, busy, waiting, due }: OverlapQuestion): OverlapAnswer {
  if (overlap === 'allow') return { fire: [...due], skipped: [], waiting: undefined };
  const all = waiting === undefined ? due : [waiting, ...due];
  const [first, ...rest] = busy ? [undefined, ...all] : all;
  const fire = first === undefined ? [] : [first];
  if (overlap === 'skip') return { fire, skipped: rest.filter((at) => at !== undefined), waiting: undefined };
  const [kept, ...skipped] = rest.filter((at) => at !== undefined);
  return { fire, skipped, waiting: kept };
}
