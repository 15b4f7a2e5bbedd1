import { type BreakerPolicy, DEFAULT_POLICY, type Policy } from '../../core/policy.js';
import type { TimeoutRule } from '../../core/timeouts.js';
import type { Config } from '../../platform/config/config.js';
import type { FullPolicySettings, OnDegrade, PolicySettings } from './policy.wire.js';

/* What policies say, put together, as those need it who follow it. */

/** Of the P95 of an agent, for tasks that do not say how long they may run (SCH-6). */
const TIMEOUT_FACTOR = 1.5;
/** And the most that it comes to: what is slower says so. */
const MOST_TIMEOUT_MS = 3_600_000;
/** Long enough for an agent that is restarted to be back. */
const FALLBACK_AFTER_MS = 30_000;
/** Of one try to tell of a degraded task, and tries: some two and a half minutes in all. */
const DEGRADE_TIMEOUT_MS = 5000;
const DEGRADE_ATTEMPTS = 6;

type Breaker = { [K in keyof FullPolicySettings['breaker']]-?: number };
type Defaults = Pick<
  Config,
  'ackTimeoutMs' | 'executionTimeoutDefaultMs' | 'executionTimeoutMinMs' | 'maxAttempts'
>;

const { breaker } = DEFAULT_POLICY;
const DEFAULT_BREAKER: Breaker = {
  window: breaker.window,
  errors_percent: breaker.errorShare * 100,
  min_samples: breaker.leastCalls,
  consecutive: breaker.running,
  open_ms: breaker.openMs,
  half_open_trials: breaker.trials,
  throttle_percent: breaker.recoveryShare * 100,
  throttle_ms: breaker.recoveryMs,
};

/** Every setting: what a capability says, over what its namespace says, over the defaults. Each is taken as a whole. */
export function settled(
  own: PolicySettings | null | undefined,
  every: PolicySettings | null | undefined,
  defaults: Defaults,
): FullPolicySettings {
  const said = <K extends keyof PolicySettings>(name: K) => own?.[name] ?? every?.[name];
  return {
    score: said('score') ?? DEFAULT_POLICY.score,
    target_latency_ms: said('target_latency_ms') ?? DEFAULT_POLICY.targetLatencyMs,
    strategy: said('strategy') ?? DEFAULT_POLICY.strategy,
    panic: said('panic') ?? DEFAULT_POLICY.panic,
    breaker: fullBreaker(said('breaker') ?? {}),
    ack_timeout_ms: said('ack_timeout_ms') ?? defaults.ackTimeoutMs,
    execution_timeout_ms: said('execution_timeout_ms') ?? defaults.executionTimeoutDefaultMs,
    timeouts: fullTimeouts(said('timeouts') ?? {}, defaults.executionTimeoutMinMs),
    max_attempts: said('max_attempts') ?? defaults.maxAttempts,
    fallback: said('fallback') ?? [],
    fallback_after_ms: said('fallback_after_ms') ?? FALLBACK_AFTER_MS,
    on_degrade: fullOnDegrade(said('on_degrade') ?? null),
    when_unreachable: said('when_unreachable') ?? 'wait',
  };
}

/** The part of them that choices and breakers follow. */
export function policyOf(settings: FullPolicySettings): Policy {
  const { window, ...b } = fullBreaker(settings.breaker);
  const breaker: BreakerPolicy = {
    window,
    errorShare: b.errors_percent / 100,
    leastCalls: b.min_samples,
    running: b.consecutive,
    openMs: b.open_ms,
    trials: b.half_open_trials,
    recoveryMs: b.throttle_ms,
    recoveryShare: b.throttle_percent / 100,
  };
  return {
    score: scoring(settings.score),
    targetLatencyMs: settings.target_latency_ms,
    strategy: settings.strategy,
    breaker,
    panic: settings.panic,
  };
}

/** How long tasks may run that do not say it. */
export function timeoutRule({ timeouts, execution_timeout_ms: unknownMs }: FullPolicySettings): TimeoutRule {
  const { fixed_ms: fixedMs, factor = 1, min_ms: minMs = 0, max_ms: maxMs = Infinity } = timeouts;
  return fixedMs !== undefined ? { fixedMs } : { factor, minMs, maxMs, unknownMs };
}

/** With every bound: a default that contradicts what was said gives way. */
function fullTimeouts(
  said: NonNullable<PolicySettings['timeouts']>,
  leastMs: number,
): FullPolicySettings['timeouts'] {
  if (said.fixed_ms !== undefined) return said;
  const { factor = TIMEOUT_FACTOR, min_ms: min, max_ms: max } = said;
  const minMs = min ?? Math.min(leastMs, max ?? Infinity);
  return { factor, min_ms: minMs, max_ms: max ?? Math.max(MOST_TIMEOUT_MS, minMs) };
}

function fullOnDegrade(said: OnDegrade | null): OnDegrade | null {
  if (said === null) return null;
  const { url, timeout_ms = DEGRADE_TIMEOUT_MS, max_attempts = DEGRADE_ATTEMPTS } = said;
  return { url, timeout_ms, max_attempts };
}

function fullBreaker(said: NonNullable<PolicySettings['breaker']>): Breaker {
  const full: Breaker = { ...DEFAULT_BREAKER };
  for (const [name, value] of Object.entries(said))
    if (value !== undefined) full[name as keyof Breaker] = value;
  return { ...full, min_samples: Math.min(full.min_samples, full.window) };
}

function scoring(score: FullPolicySettings['score']): Policy['score'] {
  if ('preset' in score) return score;
  const { success = 0, latency = 0, failures = 0, activity = 0, capacity = 0 } = score.weights;
  return { weights: { success, latency, failures, activity, capacity } };
}
