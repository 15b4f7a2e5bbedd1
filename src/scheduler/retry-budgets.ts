import { Injectable } from '@nestjs/common';
import { spreadMs, type Rng } from '../core/backoff.js';
import { TokenBucket } from '../core/token-bucket.js';
import { agentKey } from '../registry/agent-row.js';

/** Retries of one capability that come at their time: so many at once, and so many a second. */
const BURST = 20;
const PER_SECOND = 10;
/** Capabilities that are remembered; a forgotten one begins with a full budget. */
const MOST = 1000;

/**
 * Keeps tasks that failed together from coming back together: what exceeds the budget of its capability waits up to twice as
 * long, by chance. A budget is that of one replica, so n of them let n times as much through.
 */
@Injectable()
export class RetryBudgets {
  private readonly buckets = new Map<string, TokenBucket>();

  /**
   * How long a retry waits.
   * @param pauseMs what it would wait by itself  @param nowMs monotonic
   */
  pauseMs(
    namespace: string,
    capability: string,
    pauseMs: number,
    nowMs = performance.now(),
    rng: Rng = Math.random,
  ): number {
    if (this.bucket(agentKey(namespace, capability)).take(nowMs)) return pauseMs;
    return pauseMs + spreadMs(0, pauseMs, rng);
  }

  private bucket(key: string): TokenBucket {
    const known = this.buckets.get(key);
    if (known !== undefined) return known;
    const [oldest] = this.buckets.keys();
    if (this.buckets.size >= MOST && oldest !== undefined) this.buckets.delete(oldest);
    const bucket = new TokenBucket(BURST, PER_SECOND);
    this.buckets.set(key, bucket);
    return bucket;
  }
}
