import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
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
    return new TestQueues((report) => postgresBackend(url, report));
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

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Inside node_modules, so that what the program imports is found. */
const WORKER_PROGRAM = `${ROOT}node_modules/.cache/reach-test/order-worker-${process.pid}.mjs`;

/** A process of its own that takes orders and never finishes one; it is made to be killed. */
export class OrderWorkerProcess {
  private constructor(private readonly child: ChildProcess) {}

  /** @param where `redis url prefix` or `postgres url` */
  static async start(where: readonly string[]): Promise<OrderWorkerProcess> {
    await build({
      entryPoints: [`${ROOT}test/support/order-worker.ts`],
      outfile: WORKER_PROGRAM,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
    });
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    return new OrderWorkerProcess(spawn(process.execPath, [WORKER_PROGRAM, ...where], { stdio: [...stdio] }));
  }

  /** The first lane it was given. */
  async firstLane(): Promise<string> {
    for await (const line of createInterface({ input: this.child.stdout! })) return line;
    throw new Error('the order worker ended');
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}
