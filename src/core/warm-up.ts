/** How far an agent's warm-up is. Kept with its facts, so that a new owner goes on where the last one stopped. */
export interface WarmUp {
  /** Light probes that succeeded, of the current lot. */
  good: number;
  /** Their latency, summed, in ms. */
  totalMs: number;
  passed: boolean;
  /** Lots that were complete and too slow. */
  slowLots?: number;
  /** It passed all the same: it is slower than it should be, and that is how it is. */
  slow?: true;
}

/** What it takes to pass. */
export interface WarmUpRules {
  /** Good probes needed. */
  probes: number;
  /** The mean must be under this: the P95 of the capability group, in ms; undefined where there is no group yet. */
  groupP95Ms: number | undefined;
}

/** The bound on the mean where there is no group to compare with, in ms. */
export const WARM_UP_ALONE_MS = 1000;

/** After so many lots that were too slow an agent counts as warm: it will not become faster, and is better than none. */
export const MOST_SLOW_LOTS = 3;

export const COLD: WarmUp = { good: 0, totalMs: 0, passed: false };

/**
 * The warm-up after one more light probe that succeeded (a failed one changes nothing here: the echo's verdict deals
 * with it). A lot that was complete but too slow is thrown away: what counts is how fast the agent is once it is
 * warm, not how slow its first probes were. One that stays slow is let in after `MOST_SLOW_LOTS`, with a note: warm-up
 * tells cold from warm, and how much work a slow agent gets is for selection to say.
 */
export function warmedBy(w: WarmUp, latencyMs: number, rules: WarmUpRules): WarmUp {
  if (w.passed) return w;
  const good = w.good + 1;
  const totalMs = w.totalMs + latencyMs;
  if (good < rules.probes) return { ...w, good, totalMs };
  const boundMs = rules.groupP95Ms ?? WARM_UP_ALONE_MS;
  if (totalMs / good < boundMs) return { good, totalMs, passed: true };
  const slowLots = (w.slowLots ?? 0) + 1;
  return slowLots < MOST_SLOW_LOTS
    ? { ...COLD, slowLots }
    : { good, totalMs, passed: true, slowLots, slow: true };
}
