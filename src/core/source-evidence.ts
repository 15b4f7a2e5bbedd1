import { MASS_LEAST, MASS_SHARE } from './mass-change.js';

/** What a source (Consul, Nacos) last said of all its agents, by key: whether each is healthy. */
export interface SourceView {
  healthy: ReadonlyMap<string, boolean>;
  /** false: parts could not be read yet, so who is missing proves nothing. */
  isComplete: boolean;
}

/** What follows: whose lease is to be renewed, and who is to be removed. Of everybody else the lease decides. */
export interface SourceVerdict {
  renew: string[];
  remove: string[];
}

/**
 * What a source says is evidence, not a verdict: an agent that is unhealthy or gone there is not renewed any more, so
 * it is isolated when its heartbeats are missed and goes offline with its lease. One that stays gone for the grace time
 * is removed. A source that fails, or was never read, takes nobody down; and when most are gone at once it is
 * believed after the grace time only, and removal takes two, since a registry that was emptied, restored from an old
 * snapshot or restarted looks just like that.
 */
export class SourceEvidence {
  private readonly badSince = new Map<string, number>();

  constructor(private readonly graceMs: number) {}

  /**
   * @param known keys of the agents that the source registered
   * @param view undefined: nothing was heard of the source yet
   * @param isFailing it does not answer now
   * @param nowMs a monotonic clock
   */
  judge(
    known: readonly string[],
    view: SourceView | undefined,
    isFailing: boolean,
    nowMs: number,
  ): SourceVerdict {
    if (view === undefined) return { renew: [...known], remove: [] };
    const isGone = (key: string) => view.isComplete && !view.healthy.has(key);
    const bad = new Set(known.filter((key) => view.healthy.get(key) === false || isGone(key)));
    for (const key of this.badSince.keys()) if (!bad.has(key)) this.badSince.delete(key);
    for (const key of bad) if (!this.badSince.has(key)) this.badSince.set(key, nowMs);
    const isMass = bad.size >= MASS_LEAST && bad.size > known.length * MASS_SHARE;
    const verdict: SourceVerdict = { renew: [], remove: [] };
    for (const key of known) {
      const forMs = nowMs - (this.badSince.get(key) ?? nowMs);
      if (!bad.has(key) || (isMass && forMs < this.graceMs)) verdict.renew.push(key);
      else if (isGone(key) && !isFailing && forMs >= this.graceMs * (isMass ? 2 : 1))
        verdict.remove.push(key);
    }
    return verdict;
  }
}
