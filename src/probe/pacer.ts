import { hash32 } from '../core/hash.js';
import type { ProbeResult } from '../core/probe-result.js';
import { HostPace } from '../core/probe-schedule.js';
import { ProbeShard, type Probed, type Start } from '../core/probe-shard.js';

/** Something that can be probed. Never rejects, and ends by itself. */
export interface Target extends Probed {
  probe(signal: AbortSignal): Promise<ProbeResult>;
}

/** One probe that is over. Times are monotonic, in ms. */
export interface Ended {
  result: ProbeResult;
  startedMs: number;
  /** How long it waited here before it started: ours, and in no latency. */
  queuedMs: number;
}

const SHARDS = 4;

/** Starts probes when they are due, each target in its shard, and tells how they ended. */
export class Pacer<T extends Target> {
  private readonly shards: readonly ProbeShard<T>[];
  private readonly known = new Map<string, T>();
  private readonly stopping = new AbortController();
  private readonly running = new Set<Promise<void>>();
  /** Targets that are to be probed again as soon as the probe under way is over. */
  private readonly hastened = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private wakeAtMs = Infinity;

  /**
   * @param pool probes under way at a time, a shard
   * @param ended is told each end; returns when the target is due again, or undefined when it is not
   */
  constructor(
    pool: number,
    private readonly ended: (target: T, ended: Ended) => number | undefined,
  ) {
    const hosts = new HostPace();
    this.shards = Array.from({ length: SHARDS }, () => new ProbeShard<T>(pool, hosts));
  }

  /** Takes the target in, or moves it: due at `dueMs` of the monotonic clock. */
  schedule(target: T, dueMs: number): void {
    if (this.stopping.signal.aborted) return;
    this.known.set(target.id, target);
    this.shardOf(target.id).schedule(target, dueMs);
    this.wakeAt(dueMs);
  }

  /** Brings the next probe of the target forward to now; where one is under way, another follows it. */
  hasten(target: T): void {
    const nowMs = performance.now();
    if (this.shardOf(target.id).hasten(target.id, nowMs)) this.wakeAt(nowMs);
    else if (this.known.has(target.id)) this.hastened.add(target.id);
  }

  /** A probe under way ends unheard. */
  remove(id: string): void {
    this.known.delete(id);
    this.hastened.delete(id);
    this.shardOf(id).cancel(id);
  }

  /** By how much the target's shard stretches intervals now. */
  stretchOf(id: string): number {
    return this.shardOf(id).pace.stretch(performance.now());
  }

  targets(): Iterable<T> {
    return this.known.values();
  }

  get size(): number {
    return this.known.size;
  }

  get inFlight(): number {
    return this.shards.reduce((sum, shard) => sum + shard.inFlight, 0);
  }

  /** The largest stretch of any shard: 1 while all keep up. */
  get stretch(): number {
    return Math.max(...this.shards.map((shard) => shard.pace.stretch(performance.now())));
  }

  /** Starts nothing more, and gives up what is under way. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    this.known.clear();
    await Promise.all(this.running);
  }

  private shardOf(id: string): ProbeShard<T> {
    return this.shards[hash32(id) % SHARDS] as ProbeShard<T>;
  }

  private wakeAt(atMs: number): void {
    if (atMs >= this.wakeAtMs || this.stopping.signal.aborted) return;
    clearTimeout(this.timer);
    this.wakeAtMs = atMs;
    this.timer = setTimeout(() => this.turn(), Math.max(0, Math.ceil(atMs - performance.now())));
    this.timer.unref();
  }

  private turn(): void {
    this.wakeAtMs = Infinity;
    for (const shard of this.shards) {
      for (
        let start = shard.take(performance.now());
        start !== undefined;
        start = shard.take(performance.now())
      )
        this.launch(shard, start);
      const nextMs = shard.nextMs();
      if (nextMs !== undefined) this.wakeAt(nextMs);
    }
  }

  private launch(shard: ProbeShard<T>, { item, queuedMs }: Start<T>): void {
    const startedMs = performance.now();
    const run = item
      .probe(this.stopping.signal)
      .catch((error: unknown): ProbeResult => ours(error, startedMs))
      .then((result) => {
        shard.ended();
        // Another target of that id may have come meanwhile; it has a time of its own.
        if (this.known.get(item.id) === item) {
          const dueMs = this.ended(item, { result, startedMs, queuedMs });
          const again = this.hastened.delete(item.id);
          if (dueMs !== undefined) this.schedule(item, again ? performance.now() : dueMs);
        }
        const nextMs = shard.nextMs();
        if (nextMs !== undefined) this.wakeAt(nextMs);
      })
      .finally(() => this.running.delete(run));
    this.running.add(run);
  }
}

/** A prober that throws is broken itself; that says nothing about the target. */
function ours(error: unknown, startedMs: number): ProbeResult {
  const latencyMs = performance.now() - startedMs;
  return { ok: false, fault: 'misconfigured', latencyMs, detail: `the prober failed: ${String(error)}` };
}
