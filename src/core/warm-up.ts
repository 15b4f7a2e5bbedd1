/** How far an agent's warm-up is. Kept with its facts, so that a new owner goes on where the last one stopped. */
export interface WarmUp {
  /** Light probes that succeeded, of the current lot. */
  good: number;
  /** Their latency, summed, in ms. */
  totalMs: number;
  passed: boolean;
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

export const COLD: WarmUp = { good: 0, totalMs: 0, passed: false };

/**
 * The warm-up after one more light probe that succeeded (a failed one changes nothing here: the echo's verdict deals
 * with it). A lot that was complete but too slow is thrown away: what counts is how fast the agent is once it is
 * warm, not how slow its first probes were.
 */
export function warmedBy(w: WarmUp, latencyMs: number, rules: WarmUpRules): WarmUp {
  if (w.passed) return w;
  const good = w.good + 1;
  const totalMs = w.totalMs + latencyMs;
  if (good < rules.probes) return { good, totalMs, passed: false };
  const boundMs = rules.groupP95Ms ?? WARM_UP_ALONE_MS;
  return totalMs / good < boundMs ? { good, totalMs, passed: true } : COLD;
}
