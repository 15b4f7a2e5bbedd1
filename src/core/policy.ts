/** The name under which the policy of a whole namespace stands. */
export const EVERY_CAPABILITY = '*';

/** How the parts of a score are weighted: three sets that are known to work. See `scoreOf`. */
export const PRESETS = ['reach', 'dispatch', 'connect'] as const;
export type Preset = (typeof PRESETS)[number];

/** How one of the compared agents is chosen. See `choose`. */
export const STRATEGIES = [
  'best',
  'weighted_random',
  'weighted_round_robin',
  'power_of_two',
  'least_watermark',
] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** Own weights; what counts is their proportion. Not all of them are 0. */
export interface ScoreWeights {
  success: number;
  latency: number;
  failures: number;
  activity: number;
  capacity: number;
}

/** When an agent that fails is left alone, and how it comes back. */
export interface BreakerPolicy {
  /** Calls that the share of errors is taken of. */
  window: number;
  /** A larger share of errors opens it. */
  errorShare: number;
  /** So many calls at least make a share: with fewer, failures running decide. */
  leastCalls: number;
  /** More failures than this running open it at once. */
  running: number;
  /** How long it is left alone. */
  openMs: number;
  /** Calls that must succeed, one after the other, before it gets ordinary work; so many may run at a time. */
  trials: number;
  /** How long after that it gets a part of the work only. */
  recoveryMs: number;
  /** That part of what it would usually get. */
  recoveryShare: number;
}

/** How agents are chosen for a capability. */
export interface Policy {
  score: { preset: Preset } | { weights: ScoreWeights };
  /** The latency that is good enough, in ms: half of the latency's share is left at it, none at twice of it. */
  targetLatencyMs: number;
  strategy: Strategy;
  breaker: BreakerPolicy;
  /** Whether the least bad agents get work when all are ejected. */
  panic: boolean;
}

/** What holds where nobody said otherwise. */
export const DEFAULT_POLICY: Policy = {
  score: { preset: 'reach' },
  targetLatencyMs: 30_000,
  strategy: 'power_of_two',
  breaker: {
    window: 100,
    errorShare: 0.4,
    leastCalls: 10,
    running: 3,
    openMs: 30_000,
    trials: 3,
    recoveryMs: 30_000,
    recoveryShare: 0.2,
  },
  panic: true,
};
