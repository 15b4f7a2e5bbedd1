/** A source of uniform numbers in [0, 1). */
export type Rng = () => number;

export interface BackoffPolicy {
  /** Pause before the first retry, in ms. */
  baseMs: number;
  /** Largest relative jitter, 0.05 = 5 %. */
  jitter: number;
  capMs: number;
}

/**
 * The pause before retry number `retry` (1, 2, 3 ...): base x 2^(retry-1), 1/2/4 s by default, capped, with
 * at most `jitter` added or taken away. Returns whole ms.
 */
export function retryDelayMs(retry: number, policy: BackoffPolicy, rng: Rng): number {
  const exponent = Math.min(Math.max(retry, 1) - 1, 30);
  const plain = Math.min(policy.baseMs * 2 ** exponent, policy.capMs);
  return Math.round(plain * (1 + policy.jitter * (2 * rng() - 1)));
}

/** A uniformly random pause in [minMs, maxMs]: spreads what would otherwise come back together. */
export function spreadMs(minMs: number, maxMs: number, rng: Rng): number {
  return Math.round(minMs + (maxMs - minMs) * rng());
}
