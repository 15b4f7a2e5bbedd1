import { Inject, Injectable } from '@nestjs/common';
import { spreadMs, type Rng } from '../core/backoff.js';
import { type BucketGrant, type BucketLevel, type BucketRule, takeTokens } from '../core/token-bucket.js';
import {
  COORDINATOR,
  type Coordinator,
  CoordinatorUnavailable,
} from '../platform/coordination/coordinator.js';
import { Replicas } from '../probe/replicas.js';
import { agentKey } from '../registry/agent-row.js';

/** Retries of one capability that come at their time: so many at once, and so many a second, over all replicas. */
const OF_CAPABILITY: BucketRule = { capacity: 20, perSecond: 10 };
/** Tokens that a replica takes at a time, so that not every retry asks the coordinator; and how long they are good. */
const CHUNK = 5;
const CHUNK_FOR_MS = (CHUNK / OF_CAPABILITY.perSecond) * 1000;
/** After too few were there nobody asks again before one can have come. */
const DRY_FOR_MS = 1000 / OF_CAPABILITY.perSecond;

/** Retries that one caller asks for: one each 300 ms (SCH-7), ten at once; what exceeds that is owed. */
const CALLER_TOKEN_MS = 300;
const OF_CALLER: BucketRule = { capacity: 10, perSecond: 1000 / CALLER_TOKEN_MS, overdraft: 2000 };

/** Capabilities and callers that are remembered here; a forgotten one asks the coordinator again. */
const MOST = 1000;

interface Share {
  /** Tokens taken from the coordinator and not used yet, and until when they are good. */
  held: number;
  untilMs: number;
  dryUntilMs: number;
  asking: Promise<void> | undefined;
}

/**
 * Keeps tasks that failed together from coming back together. What exceeds the budget of its capability waits up to twice as
 * long, by chance; what a caller asks to be tried again beyond his waits by chance for as long as his tokens take. Replicas
 * share the budgets; while the coordinator is away each has its part of them.
 */
@Injectable()
export class RetryBudgets {
  private readonly shares = new Map<string, Share>();
  /** While the coordinator is away. */
  private readonly own = new Map<string, BucketLevel>();

  constructor(
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly replicas: Replicas,
  ) {}

  /**
   * How long a retry waits.
   * @param pauseMs what it would wait by itself
   */
  async pauseMs(
    namespace: string,
    capability: string,
    pauseMs: number,
    rng: Rng = Math.random,
  ): Promise<number> {
    if (await this.take(`retry:${agentKey(namespace, capability)}`)) return pauseMs;
    return pauseMs + spreadMs(0, pauseMs, rng);
  }

  /** How long each of `count` tasks waits that a caller wants to be tried again, in ms. */
  async delaysMs(
    namespace: string,
    caller: string,
    count: number,
    rng: Rng = Math.random,
  ): Promise<number[]> {
    if (count === 0) return [];
    const { granted, owed } = await this.ask(`retry-by:${agentKey(namespace, caller)}`, count, OF_CALLER);
    return Array.from({ length: count }, (_, i) =>
      i < granted ? 0 : spreadMs(0, owed * CALLER_TOKEN_MS, rng),
    );
  }

  private async take(key: string): Promise<boolean> {
    const share = this.shareOf(key);
    for (;;) {
      const nowMs = performance.now();
      if (share.held > 0 && nowMs < share.untilMs) {
        share.held--;
        return true;
      }
      if (nowMs < share.dryUntilMs) return false;
      share.asking ??= this.refill(key, share).finally(() => (share.asking = undefined));
      await share.asking;
    }
  }

  private async refill(key: string, share: Share): Promise<void> {
    const { granted } = await this.ask(key, CHUNK, OF_CAPABILITY);
    const nowMs = performance.now();
    share.held = granted;
    share.untilMs = nowMs + CHUNK_FOR_MS;
    if (granted < CHUNK) share.dryUntilMs = nowMs + DRY_FOR_MS;
  }

  private async ask(key: string, wanted: number, rule: BucketRule): Promise<BucketGrant> {
    try {
      if (this.coordinator.available()) return await this.coordinator.bucketTake(key, wanted, rule);
    } catch (error) {
      if (!(error instanceof CoordinatorUnavailable)) throw error;
    }
    return this.askOwn(key, wanted, rule);
  }

  private askOwn(key: string, wanted: number, rule: BucketRule): BucketGrant {
    const among = Math.max(1, this.replicas.live().length);
    const part = {
      ...rule,
      capacity: Math.max(1, Math.floor(rule.capacity / among)),
      perSecond: rule.perSecond / among,
    };
    const { level, ...grant } = takeTokens(this.own.get(key), wanted, part, performance.now());
    remember(this.own, key, level);
    return grant;
  }

  private shareOf(key: string): Share {
    const known = this.shares.get(key);
    if (known !== undefined) return known;
    const share: Share = { held: 0, untilMs: 0, dryUntilMs: 0, asking: undefined };
    remember(this.shares, key, share);
    return share;
  }
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  const [oldest] = map.keys();
  if (map.size >= MOST && oldest !== undefined && !map.has(key)) map.delete(oldest);
  map.set(key, value);
}
