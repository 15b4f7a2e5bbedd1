import { DueQueue } from './due-queue.js';
import { type HostPace, ShardPace } from './probe-schedule.js';

/** Something that is probed again and again. */
export interface Probed {
  readonly id: string;
  /** Kind and host: probes with the same value keep their distance. Undefined: nothing to keep. */
  readonly host: string | undefined;
  /** What comes first of the things that are due: confirming a failure, then what is critical. */
  readonly rank: 0 | 1 | 2;
}

/** A probe that may start now. */
export interface Start<T> {
  item: T;
  /** How long it waited here since it was due. Ours, never the target's. */
  queuedMs: number;
}

/**
 * A share of the targets with a pool of its own, so that targets that hang hold up their shard at most. Decides
 * what starts next; starting it is the caller's business.
 */
export class ProbeShard<T extends Probed> {
  private readonly queues = [new DueQueue<T>(), new DueQueue<T>(), new DueQueue<T>()] as const;
  private running = 0;
  readonly pace = new ShardPace();

  /** @param pool how many probes run at a time  @param hosts shared by all shards */
  constructor(
    private readonly pool: number,
    private readonly hosts: HostPace,
  ) {}

  /** The item is due at `dueMs`, and no other time it had before. */
  schedule(item: T, dueMs: number): void {
    this.cancel(item.id);
    this.queues[item.rank].set(item.id, item, dueMs);
  }

  /**
   * The item that waits for its time is due at `dueMs` already, if that is earlier.
   * @returns false: it does not wait, it is being probed
   */
  hasten(id: string, dueMs: number): boolean {
    return this.queues.some((queue) => queue.hasten(id, dueMs));
  }

  cancel(id: string): void {
    for (const queue of this.queues) queue.delete(id);
  }

  /** The next probe to start now; it takes a place in the pool until `ended`. */
  take(nowMs: number): Start<T> | undefined {
    if (this.running >= this.pool) return undefined;
    for (const queue of this.queues) {
      for (let due = queue.take(nowMs); due !== undefined; due = queue.take(nowMs)) {
        const { item, dueMs } = due;
        const freeAtMs = item.host === undefined ? -Infinity : this.hosts.freeAtMs(item.host);
        if (freeAtMs > nowMs) {
          queue.set(item.id, item, freeAtMs);
          continue;
        }
        if (item.host !== undefined) this.hosts.started(item.host, nowMs);
        this.running += 1;
        this.pace.started(nowMs - dueMs, nowMs);
        return { item, queuedMs: nowMs - dueMs };
      }
    }
    return undefined;
  }

  /** A probe that was taken is over. */
  ended(): void {
    this.running -= 1;
  }

  /** When to look again; undefined: when a probe ends or something is scheduled. */
  nextMs(): number | undefined {
    if (this.running >= this.pool) return undefined;
    const dues = this.queues.map((q) => q.nextDueMs()).filter((due) => due !== undefined);
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  /** How many probes run now. */
  get inFlight(): number {
    return this.running;
  }

  /** How many targets it looks after, apart from those being probed right now. */
  get waiting(): number {
    return this.queues.reduce((sum, q) => sum + q.size, 0);
  }
}
