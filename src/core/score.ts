import type { Policy, Preset, ScoreWeights } from './policy.js';
import { SILENT_AFTER_MS, type WindowView } from './sliding-window.js';

/** What a choice knows of an agent: everything that the score and the strategies read, and nothing else. */
export interface ScoreInput {
  agentId: string;
  /** 0 to 1; undefined where it did nothing yet. */
  successRate?: number | undefined;
  p50Ms?: number | undefined;
  p95Ms?: number | undefined;
  /** How much latency varies; P95 less P50 where it is not said. */
  jitterMs?: number | undefined;
  consecutiveFailures: number;
  /** Since its last sign of life; undefined where there was none. */
  idleMs?: number | undefined;
  inFlight: number;
  /** How many tasks at a time it may hold now; at least 1. */
  maxConcurrency: number;
  /** An operator's: twice of it, twice the work. */
  weight: number;
  /** -1 the oldest version of those offered, 1 the newest, 0 or undefined where that shall not matter. */
  versionRank?: number | undefined;
  /** Since it failed so that its breaker opened, or it was lost. */
  sinceSeriousFailureMs?: number | undefined;
  /** It is coming back, and gets a part of the work only. */
  throttled?: boolean | undefined;
}

export interface Score {
  /** The sum of the parts: 0 to 1; the newest version has up to 1.05 with `connect`. */
  total: number;
  /** What each part adds, by its name. */
  parts: Readonly<Record<string, number>>;
}

/** Failures running after which their share is lost. */
const MOST_FAILURES = 3;
/** What nothing is known of counts as the middle. */
const UNTRIED = 0.5;
/**
 * What is left of the score for a while after a serious failure: one that is up to half as good, but steady, is preferred
 * to the fastest that is just back.
 */
const UNSTEADY = 0.5;

/** The preset `reach`; the shares sum to 1. */
const REACH = { success: 0.4, latency: 0.3, failures: 0.2, activity: 0.1 };
/** The share of latency once P95 passes the target; the others keep their proportions in what is left. */
const LATE_WEIGHT = 0.6;

/** Parts of a score before they are weighted, 0 to 1 each. */
interface Measures {
  success: number;
  latency: number;
  failures: number;
  activity: number;
  capacity: number;
}

function measure(input: ScoreInput, targetMs: number): Measures {
  return {
    success: input.successRate ?? UNTRIED,
    latency: nearness(input.p95Ms, targetMs),
    failures: 1 - Math.min(1, input.consecutiveFailures / MOST_FAILURES),
    activity: input.idleMs === undefined ? UNTRIED : input.idleMs > SILENT_AFTER_MS ? 0 : 1,
    capacity: Math.max(0, 1 - input.inFlight / input.maxConcurrency),
  };
}

/** 1 for no latency at all, a half at the target, 0 from twice the target on. */
function nearness(ms: number | undefined, targetMs: number): number {
  return ms === undefined ? UNTRIED : Math.max(0, 1 - ms / (2 * targetMs));
}

/**
 * `reach`: success 0.4, latency 0.3, consecutive failures 0.2, activity 0.1; when P95 passes the target, latency weighs
 * 0.6 at once.
 */
function reach(m: Measures, late: boolean): Record<string, number> {
  const rest = late ? (1 - LATE_WEIGHT) / (1 - REACH.latency) : 1;
  return {
    success: rest * REACH.success * m.success,
    latency: (late ? LATE_WEIGHT : REACH.latency) * m.latency,
    failures: rest * REACH.failures * m.failures,
    activity: rest * REACH.activity * m.activity,
  };
}

/** `dispatch`: 0.6 x success + 0.3 x (1 - normalised latency) + 0.1 x free capacity. */
function dispatch(m: Measures): Record<string, number> {
  return { success: 0.6 * m.success, latency: 0.3 * m.latency, capacity: 0.1 * m.capacity };
}

/**
 * `connect`, in hundredths: success x 50, latency up to 30, load up to 20, and 5 more or less for the version. Latency is
 * P95 and a penalty for jitter, never the mean: one slow call in twenty is what the caller remembers.
 */
function connect(m: Measures, input: ScoreInput, targetMs: number): Record<string, number> {
  const { p50Ms, p95Ms, versionRank = 0 } = input;
  const jitterMs =
    input.jitterMs ?? (p50Ms === undefined || p95Ms === undefined ? 0 : Math.max(0, p95Ms - p50Ms));
  return {
    success: 0.5 * m.success,
    latency: 0.3 * nearness(p95Ms === undefined ? undefined : p95Ms + jitterMs, targetMs),
    load: 0.2 * m.capacity,
    version: 0.05 * Math.max(-1, Math.min(1, versionRank)),
  };
}

function own(m: Measures, weights: ScoreWeights): Record<string, number> {
  const { success, latency, failures, activity, capacity } = weights;
  const sum = success + latency + failures + activity + capacity;
  // Each by the sum: its reciprocal is infinite where the weights are tiny.
  const share = (weight: number) => (sum > 0 ? weight / sum : 0);
  return {
    success: share(success) * m.success,
    latency: share(latency) * m.latency,
    failures: share(failures) * m.failures,
    activity: share(activity) * m.activity,
    capacity: share(capacity) * m.capacity,
  };
}

function presetParts(preset: Preset, input: ScoreInput, targetMs: number): Record<string, number> {
  const m = measure(input, targetMs);
  switch (preset) {
    case 'reach':
      return reach(m, input.p95Ms !== undefined && input.p95Ms > targetMs);
    case 'dispatch':
      return dispatch(m);
    case 'connect':
      return connect(m, input, targetMs);
  }
}

function sumOf(parts: Readonly<Record<string, number>>): number {
  let total = 0;
  for (const name in parts) total += parts[name] ?? 0;
  return Math.max(0, total);
}

/** Whether a serious failure is so recent that steadiness counts before speed. One that is throttled pays already. */
export function isUnsteady(input: ScoreInput, policy: Policy): boolean {
  const { sinceSeriousFailureMs: sinceMs, throttled } = input;
  return sinceMs !== undefined && sinceMs < policy.breaker.recoveryMs && throttled !== true;
}

/** How well an agent does, by the policy. Its parts say why. */
export function scoreOf(input: ScoreInput, policy: Policy): Score {
  const { score, targetLatencyMs } = policy;
  const parts =
    'preset' in score
      ? presetParts(score.preset, input, targetLatencyMs)
      : own(measure(input, targetLatencyMs), score.weights);
  const total = sumOf(parts);
  if (!isUnsteady(input, policy)) return { total, parts };
  return { total: total * UNSTEADY, parts: { ...parts, unsteady: total * (UNSTEADY - 1) } };
}

/**
 * How well an agent did as far as a window shows it, 0 to 1: the preset `reach`.
 * @param targetMs the latency that is good enough
 */
export function reachScore(view: WindowView, targetMs: number): number {
  const { successRate, p95Ms, consecutiveFailures, silent } = view;
  const idleMs = silent ? Infinity : 0;
  const input = { successRate, p95Ms, consecutiveFailures, idleMs };
  return sumOf(
    presetParts('reach', { ...input, agentId: '', inFlight: 0, maxConcurrency: 1, weight: 1 }, targetMs),
  );
}
