/** When so many turn bad at once that it may be us: this share of those watched, and at least so many. */
export const MASS_SHARE = 0.3;
export const MASS_LEAST = 4;
export const MASS_WINDOW_MS = 10_000;

/** Counts which agents of one namespace turn for the worse within a window. */
export class MassChange {
  private readonly turnedAt = new Map<string, number>();

  /** The agent would turn for the worse. */
  note(agent: string, nowMs: number): void {
    this.turnedAt.delete(agent);
    this.turnedAt.set(agent, nowMs);
  }

  /** The agent is fine after all. */
  forget(agent: string): void {
    this.turnedAt.delete(agent);
  }

  /** Whether more than a share of the `watched` agents turned in the last window. */
  isMass(watched: number, nowMs: number): boolean {
    for (const [agent, at] of this.turnedAt) {
      // In the order of time: behind the first recent one all are recent.
      if (nowMs - at < MASS_WINDOW_MS) break;
      this.turnedAt.delete(agent);
    }
    return this.turnedAt.size >= MASS_LEAST && this.turnedAt.size > watched * MASS_SHARE;
  }
}
