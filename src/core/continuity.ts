/**
 * For how long this replica has been able to hear its agents without a break. After a break (a stalled
 * process, a database that did not answer) silence proves nothing until a full lease has passed again.
 */
export class Continuity {
  private since: number;
  private lastTick: number;

  /** @param nowMs a monotonic clock, in ms  @param maxGapMs a longer pause between ticks is a break */
  constructor(
    nowMs: number,
    private readonly maxGapMs: number,
  ) {
    this.since = nowMs;
    this.lastTick = nowMs;
  }

  /** Called regularly while everything works. Returns the unbroken time in ms. */
  tick(nowMs: number): number {
    if (nowMs - this.lastTick > this.maxGapMs) this.since = nowMs;
    this.lastTick = nowMs;
    return nowMs - this.since;
  }

  /** Something that hearing depends on failed. */
  broken(nowMs: number): void {
    this.since = nowMs;
    this.lastTick = nowMs;
  }
}
