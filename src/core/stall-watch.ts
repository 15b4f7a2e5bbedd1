/**
 * Whether this process itself stood still: a blocked event loop, a stopped process, a machine that slept. After a
 * stall timers run before what came meanwhile is read, so that every deadline seems missed; what was found then says
 * nothing about anybody else.
 */
export class StallWatch {
  private lastTickMs: number;
  private stalledUntilMs = -Infinity;

  /** @param nowMs a monotonic clock  @param maxGapMs a longer pause between ticks is a stall */
  constructor(
    nowMs: number,
    private readonly maxGapMs: number,
  ) {
    this.lastTickMs = nowMs;
  }

  /** Called often while the loop turns. Returns how long it stood still just now, in ms; 0 when it did not. */
  tick(nowMs: number): number {
    const gapMs = nowMs - this.lastTickMs;
    this.lastTickMs = nowMs;
    if (gapMs <= this.maxGapMs) return 0;
    this.stalledUntilMs = nowMs;
    return gapMs;
  }

  /** Whether it stood still at some time between `sinceMs` and now. */
  stalledSince(sinceMs: number, nowMs: number): boolean {
    return this.stalledUntilMs >= sinceMs || nowMs - this.lastTickMs > this.maxGapMs;
  }
}
