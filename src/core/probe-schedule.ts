import { hash32 } from './hash.js';

/*
 * When probes start. Everything here is arithmetic on times that the caller gives: a target has a fixed place in
 * its interval (its phase, by hash), so that starts are spread evenly, and whoever takes a target over goes on
 * in the same step.
 */

/** A failed probe is repeated after so long, until the verdict is settled. */
export const CONFIRM_MS = 1000;
/** Probes of one kind to one host start at least so far apart. */
export const HOST_GAP_MS = 1000;

const SLACK_SHARE = 0.02;
const SLACK_MS = 500;

/** The place of a target in an interval: evenly spread over all targets, always the same for one. */
export function phaseMs(key: string, intervalMs: number): number {
  return (hash32(key) / 2 ** 32) * intervalMs;
}

/**
 * When the probe after the one at `fromMs` is due: at the target's phase, and half an interval to one interval
 * after it. So the first probes of a newcomer settle into its phase within two steps.
 */
export function nextDueMs(fromMs: number, intervalMs: number, phase: number): number {
  const aheadMs = (((phase - fromMs) % intervalMs) + intervalMs) % intervalMs || intervalMs;
  // Just before its phase it was this very probe, on a clock that was set right meanwhile.
  if (aheadMs < Math.min(SLACK_MS, intervalMs * SLACK_SHARE)) return fromMs + aheadMs + intervalMs;
  return aheadMs >= intervalMs / 2 ? fromMs + aheadMs : fromMs + (intervalMs + aheadMs) / 2;
}

/** Starts that all want to be soon, one after the other: first probes of newcomers, warm-up probes. */
export class Spacing {
  private nextMs = -Infinity;

  /** The moment for one more, at `nowMs` or later. @param perSecond how many may start in a second */
  slotMs(nowMs: number, perSecond: number): number {
    const slot = Math.max(nowMs, this.nextMs);
    this.nextMs = slot + 1000 / perSecond;
    return slot;
  }
}

/** Keeps probes of one kind to one host apart. */
export class HostPace {
  private readonly startedAt = new Map<string, number>();

  /** From when on a probe to this host may start. */
  freeAtMs(host: string): number {
    return (this.startedAt.get(host) ?? -Infinity) + HOST_GAP_MS;
  }

  started(host: string, nowMs: number): void {
    this.startedAt.set(host, nowMs);
    if (this.startedAt.size % 1024 === 0) this.forget(nowMs);
  }

  private forget(nowMs: number): void {
    for (const [host, at] of this.startedAt) if (at + HOST_GAP_MS <= nowMs) this.startedAt.delete(host);
  }
}

const WINDOW_MS = 10_000;
const LEAST_STARTS = 20;
const LATE_MS = 1000;
const LATE_SHARE = 0.05;
const MOST_STRETCH = 16;

/**
 * How much slower than asked for a shard probes. It looks at its own queueing alone: when more than one start in
 * twenty came over a second late (the P95 of the delay passes 1 s), the rate is halved, window by window, until
 * it keeps up; then it returns the same way.
 */
export class ShardPace {
  private windowEndMs = -Infinity;
  private starts = 0;
  private late = 0;
  private factor = 1;

  /** @param queuedMs how long the probe waited in the prober after it was due */
  started(queuedMs: number, nowMs: number): void {
    this.roll(nowMs);
    this.starts += 1;
    if (queuedMs > LATE_MS) this.late += 1;
  }

  /** Intervals are to be multiplied by this: 1 when the shard keeps up. */
  stretch(nowMs: number): number {
    this.roll(nowMs);
    return this.factor;
  }

  private roll(nowMs: number): void {
    if (nowMs < this.windowEndMs) return;
    if (this.starts >= LEAST_STARTS && this.late > this.starts * LATE_SHARE)
      this.factor = Math.min(MOST_STRETCH, this.factor * 2);
    else this.factor = Math.max(1, this.factor / 2);
    this.starts = 0;
    this.late = 0;
    this.windowEndMs = nowMs + WINDOW_MS;
  }
}
