import type { WindowView } from './sliding-window.js';

/** Shares of the score; they sum to 1. */
const WEIGHTS = { success: 0.4, latency: 0.3, failures: 0.2, activity: 0.1 };
/** The share of latency once P95 passes the target; the others keep their proportions in what is left. */
const LATE_WEIGHT = 0.6;
/** Failures running after which their share is lost. */
const MOST_FAILURES = 3;
/** What nothing is known of counts as the middle. */
const UNTRIED = 0.5;

/**
 * How well an agent does, 0 to 1: the preset `reach`. Success 0.4, latency 0.3, consecutive failures 0.2, activity
 * 0.1; when P95 passes the target, latency weighs 0.6 at once.
 * @param targetMs the latency that is good enough: half of the latency's share is left at it, none at twice of it
 */
export function reachScore(view: WindowView, targetMs: number): number {
  const { p95Ms, successRate, consecutiveFailures } = view;
  const success = successRate ?? UNTRIED;
  const latency = p95Ms === undefined ? UNTRIED : Math.max(0, 1 - p95Ms / (2 * targetMs));
  const failures = 1 - Math.min(1, consecutiveFailures / MOST_FAILURES);
  const activity = view.silent ? 0 : 1;
  const late = p95Ms !== undefined && p95Ms > targetMs;
  const latencyWeight = late ? LATE_WEIGHT : WEIGHTS.latency;
  const rest = (1 - latencyWeight) / (1 - WEIGHTS.latency);
  const others = WEIGHTS.success * success + WEIGHTS.failures * failures + WEIGHTS.activity * activity;
  return latencyWeight * latency + rest * others;
}
