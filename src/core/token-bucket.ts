/** So many tokens at most, refilled at a steady rate; full at first. Clock: monotonic, in ms, the same for all calls. */
export class TokenBucket {
  private tokens: number;
  private atMs = -Infinity;

  constructor(
    private readonly capacity: number,
    private readonly perSecond: number,
  ) {
    this.tokens = capacity;
  }

  /** Takes a token, if there is one. */
  take(nowMs: number): boolean {
    const sinceMs = Math.max(0, nowMs - this.atMs);
    this.tokens = Math.min(this.capacity, this.tokens + (sinceMs * this.perSecond) / 1000);
    this.atMs = Math.max(this.atMs, nowMs);
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }
}
