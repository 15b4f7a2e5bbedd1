import { Inject, Injectable, Logger } from '@nestjs/common';
import { comeAgainMs, Flow } from '../core/backpressure.js';
import { ReachError } from '../core/errors.js';
import { laneLabel, requirementOf } from '../core/lane.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import {
  COORDINATOR,
  type Coordinator,
  CoordinatorUnavailable,
} from '../platform/coordination/coordinator.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import { SchedulerMetrics } from './scheduler-metrics.js';

const DEPTHS = loadSql(import.meta.url, 'sql/depths.sql');
/** Lanes whose flow is remembered. */
const MOST_LANES = 10_000;

const keyOf = (lane: string): string => `depth:${lane}`;

/** What this replica saw of a lane. */
interface Seen {
  limit: number;
  depth: number;
  drained: Flow;
  refused: Flow;
}

interface Want {
  wanted: number;
  resolve: (granted: number) => void;
  reject: (error: unknown) => void;
}

/**
 * How many tasks wait in each lane, so that a full one refuses at the door. Counters in the coordinator;
 * the truth is the ledger: an unknown counter is seeded from it, one that drifted is corrected while its
 * lane is quiet.
 */
@Injectable()
export class Depths {
  private readonly log = new Logger(Depths.name);
  private seeding: Promise<Map<string, number>> | undefined;
  /** Lanes this replica counts, with the last version at which the counter disagreed with the ledger. */
  private readonly known = new Map<string, number>();
  private readonly seen = new Map<string, Seen>();
  /** Who asked for places since the last turn of the event loop, by lane. */
  private readonly wanted = new Map<string, Want[]>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly sql: Sql,
    private readonly metrics: SchedulerMetrics,
  ) {}

  /**
   * Takes up to `wanted` places in the lane, fewer near its limit; calls of one turn of the event loop share one
   * call to the coordinator, the first to ask first. While the coordinator is away nothing is counted and all are
   * granted: what the ledger takes is bounded by the ledger's own queue.
   */
  reserve(lane: string, wanted: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const want: Want = { wanted, resolve, reject };
      const waiting = this.wanted.get(lane);
      if (waiting !== undefined) {
        waiting.push(want);
        return;
      }
      this.wanted.set(lane, [want]);
      setImmediate(() => void this.reserveWanted(lane));
    });
  }

  private async reserveWanted(lane: string): Promise<void> {
    const wants = this.wanted.get(lane) ?? [];
    this.wanted.delete(lane);
    try {
      let left = await this.reserveNow(
        lane,
        wants.reduce((sum, { wanted }) => sum + wanted, 0),
      );
      for (const { wanted, resolve } of wants) {
        const granted = Math.min(wanted, left);
        left -= granted;
        resolve(granted);
      }
    } catch (error) {
      for (const { reject } of wants) reject(error);
    }
  }

  private async reserveNow(lane: string, wanted: number): Promise<number> {
    const { limit } = this.of(lane);
    try {
      for (;;) {
        const grant = await this.coordinator.counterReserve(keyOf(lane), wanted, limit);
        if (grant !== 'unknown') {
          this.known.set(lane, this.known.get(lane) ?? -1);
          const seen = this.of(lane);
          seen.depth = grant.value;
          if (grant.granted < wanted) seen.refused.add(wanted - grant.granted, performance.now());
          return grant.granted;
        }
        await this.seed(lane);
      }
    } catch (error) {
      if (error instanceof CoordinatorUnavailable) return wanted;
      throw error;
    }
  }

  /** Tasks came back to the lane (positive) or left it (negative). */
  add(lane: string, delta: number): void {
    if (delta === 0) return;
    if (delta < 0) this.of(lane).drained.add(-delta, performance.now());
    this.coordinator.counterAdd(keyOf(lane), delta).catch((err: unknown) => {
      this.log.debug({ msg: 'a lane depth was not counted; the reconcile will correct it', lane, err });
    });
  }

  /** The error for tasks that found no place. */
  full(lane: string): ReachError {
    const requirement = requirementOf(lane);
    const { limit, refused, drained } = this.of(lane);
    const nowMs = performance.now();
    const againMs = comeAgainMs(refused.recent(nowMs), drained.recent(nowMs), Math.random);
    return new ReachError(
      'QUEUE_FULL',
      `${limit} tasks wait for ${laneLabel(requirement)} already, its limit; try again later, or add agents`,
      { retry_after_ms: againMs, headers: limitHeaders(limit, 0, againMs) },
    );
  }

  /** What the lane has room for, as headers for whoever puts tasks into it: as this replica saw it last. */
  headers(lane: string): Record<string, string> {
    const { limit, depth } = this.of(lane);
    return limitHeaders(limit, Math.max(0, limit - depth));
  }

  private of(lane: string): Seen {
    const known = this.seen.get(lane);
    if (known !== undefined) return known;
    const [oldest] = this.seen.keys();
    if (this.seen.size >= MOST_LANES && oldest !== undefined) this.seen.delete(oldest);
    const seen = { limit: this.limitOf(lane), depth: 0, drained: new Flow(), refused: new Flow() };
    this.seen.set(lane, seen);
    return seen;
  }

  private limitOf(lane: string): number {
    return requirementOf(lane).agentId === undefined ? this.config.laneLimit : this.config.inboxLimit;
  }

  private async seed(lane: string): Promise<void> {
    // One read seeds every lane: after a loss all of them are asked for at once.
    this.seeding ??= this.read().finally(() => (this.seeding = undefined));
    const depths = await this.seeding;
    await this.coordinator.counterSeed(keyOf(lane), depths.get(lane) ?? 0);
  }

  private async read(): Promise<Map<string, number>> {
    const { rows } = await this.sql.run<{ lane: string; depth: number }>('depths', DEPTHS);
    return new Map(rows.map((r) => [r.lane, r.depth]));
  }

  /** Tells the metrics how many tasks wait. From the ledger, so that it goes on while the coordinator is away. */
  async measure(): Promise<void> {
    this.metrics.waiting(await this.read());
  }

  /**
   * Corrects counters that drifted. Only a lane that did not move between two reconciles, and disagreed
   * both times, is corrected: a busy one disagrees with any read of the ledger for honest reasons.
   */
  async reconcile(): Promise<void> {
    if (this.known.size === 0) return;
    const before = new Map<string, number>();
    for (const lane of this.known.keys()) {
      const reading = await this.coordinator.counterRead(keyOf(lane));
      if (reading !== 'unknown') before.set(lane, reading.version);
      else this.known.delete(lane);
    }
    const depths = await this.read();
    for (const [lane, version] of before) {
      const reading = await this.coordinator.counterRead(keyOf(lane));
      const depth = depths.get(lane) ?? 0;
      if (reading === 'unknown' || reading.version !== version || reading.value === depth) {
        if (depth === 0) this.known.delete(lane);
        else this.known.set(lane, -1);
      } else if (this.known.get(lane) === version) {
        await this.coordinator.counterCorrect(keyOf(lane), depth, version);
        this.log.warn({ msg: 'corrected a lane depth', lane, was: reading.value, is: depth });
      } else this.known.set(lane, version);
    }
  }
}

/** By draft-ietf-httpapi-ratelimit-headers-10: places in the lane, those left, and in how many seconds there are more. */
function limitHeaders(limit: number, left: number, againMs?: number): Record<string, string> {
  const again = againMs === undefined ? '' : `;t=${Math.ceil(againMs / 1000)}`;
  return {
    'RateLimit-Policy': `"lane";q=${limit};qu="concurrent-requests"`,
    RateLimit: `"lane";r=${left}${again}`,
  };
}
