import { type QueueBackend, postgresBackend, redisBackend } from '../../src/platform/queue/backends.js';
import { BullOrderQueue, type BullOrderQueueOptions } from '../../src/platform/queue/bull-order-queue.js';
import { parseRedisUrl } from '../../src/platform/coordination/redis-url.js';

/** Opens order queues on one place and closes them all at the end. */
export class TestQueues {
  private readonly opened: BullOrderQueue[] = [];
  /** What queues reported, as `message: error`. */
  readonly reports: string[] = [];

  constructor(private readonly backend: (report: BullOrderQueueOptions['report']) => QueueBackend) {}

  static onRedis(url: string, prefix: string): TestQueues {
    return new TestQueues((report) => redisBackend(parseRedisUrl(url), prefix, report));
  }

  static onPostgres(url: string): TestQueues {
    return new TestQueues(() => postgresBackend(url));
  }

  /** A queue as one more replica would have it, ready to take orders. */
  async open(options: Partial<BullOrderQueueOptions> = {}): Promise<BullOrderQueue> {
    const report = (message: string, error: unknown) => {
      this.reports.push(`${message}: ${error instanceof Error ? error.message : String(error)}`);
    };
    const queue = new BullOrderQueue({ backend: this.backend(report), report, ...options });
    this.opened.push(queue);
    await queue.waitUntilReady(10_000);
    return queue;
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.opened.splice(0).map((queue) => queue.close()));
  }
}

/** A handler that records lanes and can be held up, one pass at a time. */
export class RecordingHandler {
  readonly lanes: string[] = [];
  running = 0;
  mostRunning = 0;
  private readonly gates = new Map<string, Promise<void>>();
  private readonly openers = new Map<string, () => void>();

  readonly handle = async (lane: string): Promise<void> => {
    this.lanes.push(lane);
    this.running++;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    await this.gates.get(lane);
    this.running--;
  };

  /** Passes over the lane wait from now on, until `release`. */
  hold(lane: string): void {
    this.gates.set(lane, new Promise((resolve) => this.openers.set(lane, resolve)));
  }

  release(lane: string): void {
    this.gates.delete(lane);
    this.openers.get(lane)?.();
  }

  count(lane: string): number {
    return this.lanes.filter((one) => one === lane).length;
  }
}
