import type { Rng } from './backoff.js';

/** What is long ago counts less: after this long a third of what it did. */
const MEMORY_MS = 10_000;

/** How much flowed of late. Clock: monotonic, in ms, the same for all calls. */
export class Flow {
  private count = 0;
  private atMs = -Infinity;

  add(count: number, nowMs: number): void {
    this.count = this.recent(nowMs) + count;
    this.atMs = nowMs;
  }

  /** About how many in the last `MEMORY_MS`. */
  recent(nowMs: number): number {
    return this.count * Math.exp(-Math.max(0, nowMs - this.atMs) / MEMORY_MS);
  }
}

const LEAST_MS = 1000;
const MOST_MS = 20_000;
/** So much longer by chance: those who were refused together do not come back together. */
const JITTER = 0.5;

/**
 * When somebody whom a full lane refused should come again: once as many have left it as were refused of late. From 1 s to 30 s.
 * @param refused of late, as `Flow` counts  @param drained likewise, by those who counted the refusals
 */
export function comeAgainMs(refused: number, drained: number, rng: Rng): number {
  const aheadMs = drained > 0 ? (refused / drained) * MEMORY_MS : MOST_MS;
  return Math.round(Math.min(Math.max(aheadMs, LEAST_MS), MOST_MS) * (1 + JITTER * rng()));
}
