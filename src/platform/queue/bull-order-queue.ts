import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { WaitingError, type Job } from 'bullmq';
import { bounded } from '../coordination/bounded.js';
import {
  type BullQueue,
  type BullWorker,
  type OrderData,
  type OrderWorkerOptions,
  type QueueBackend,
  type ReportError,
} from './backends.js';
import { QueueUnavailable, type OrderHandler, type OrderQueue } from './order-queue.js';

const QUEUE_NAME = 'reach-orders';

export type BullOrderQueueOptions = {
  backend: QueueBackend;
  report: ReportError;
  /** An order that took longer to add has failed; default 1800. */
  orderTimeoutMs?: number;
  /** How long `pause` waits for running handlers; default 10 000. */
  drainTimeoutMs?: number;
  worker?: Partial<OrderWorkerOptions>;
};

/**
 * How orders are consumed.
 *
 * A process that dies in the middle of an order keeps the orders of that lane waiting until it is found to
 * be stalled, so that is found out soon: the lock is short (and renewed at half its life), the check
 * frequent, about 9 s together. A lock that runs out while its process lives costs a second pass over the
 * lane, which is harmless. However often that happens, the order is given out again.
 */
const WORKER_OPTIONS: OrderWorkerOptions = {
  concurrency: 16,
  lockDuration: 5_000,
  stalledInterval: 2_000,
  maxStalledCount: 1_000_000,
  // Seconds an idle worker waits for the announcement of an order before it looks by itself.
  drainDelay: 5,
  // BullMQ waits so long after a command failed for want of a connection; its 15 s are too long for us.
  runRetryDelay: 500,
  autorun: false,
};

/** Between attempts to connect, where each takes a queue or worker of its own. */
const REOPEN_AFTER_MS = 250;

/** How long handing back orders, and then closing, may take. */
const HAND_BACK_TIMEOUT_MS = 1_000;

/** Orders as BullMQ jobs of one queue; where they are kept is the backend's business. */
export class BullOrderQueue implements OrderQueue {
  private queue: BullQueue;
  private readonly orderTimeoutMs: number;
  private readonly drainTimeoutMs: number;
  private worker: BullWorker | undefined;
  private workerEnd: Promise<void> | undefined;
  private closed: Promise<void> | undefined;
  /** Makes passes that still run give their orders back. */
  private handBack = (): void => undefined;
  private readonly handedBack = new Promise<false>((resolve) => (this.handBack = () => resolve(false)));

  constructor(private readonly options: BullOrderQueueOptions) {
    this.orderTimeoutMs = options.orderTimeoutMs ?? 1_800;
    this.drainTimeoutMs = options.drainTimeoutMs ?? 10_000;
    this.queue = this.openQueue();
  }

  private openQueue(): BullQueue {
    const queue = this.options.backend.openQueue(QUEUE_NAME);
    queue.on('error', (error) => this.options.report('order queue', error));
    return queue;
  }

  /** Resolves when orders can be added; rejects after `timeoutMs`, or when the backend refuses for good. */
  async waitUntilReady(timeoutMs: number): Promise<void> {
    const untilMs = performance.now() + timeoutMs;
    for (;;) {
      try {
        const leftMs = Math.max(0, untilMs - performance.now());
        await bounded(this.queue.waitUntilReady(), leftMs, () => new QueueUnavailable('not ready in time'));
        return;
      } catch (error) {
        const again = this.options.backend.firstConnectionDecides && performance.now() < untilMs;
        if (!again || this.closed) throw error;
        void this.queue.close().catch(() => undefined);
        await wait(REOPEN_AFTER_MS);
        this.queue = this.openQueue();
      }
    }
  }

  async order(lanes: readonly string[]): Promise<void> {
    if (lanes.length > 0) await this.inTime(() => this.addAll(lanes));
  }

  async restore(lanes: readonly string[]): Promise<void> {
    if (lanes.length === 0) return;
    await this.inTime(async () => {
      await Promise.all(lanes.map((lane) => this.forgetLostOrder(lane)));
      await this.addAll(lanes);
    });
  }

  async consume(handler: OrderHandler): Promise<void> {
    if (this.worker || this.workerEnd) throw new Error('orders are consumed already, or no longer');
    this.worker = this.openWorker(handler);
    if (this.options.backend.firstConnectionDecides) void this.runWhenReady(this.worker, handler);
    else this.run(this.worker);
  }

  private openWorker(handler: OrderHandler): BullWorker {
    const worker = this.options.backend.openWorker(
      QUEUE_NAME,
      (job, token) => this.work(job, token, handler),
      { ...WORKER_OPTIONS, ...this.options.worker },
    );
    worker.on('error', (error) => this.options.report('order worker', error));
    return worker;
  }

  private run(worker: BullWorker): void {
    worker.run().catch((error: unknown) => this.options.report('the order worker ended', error));
  }

  /** Runs the worker once it is connected, or the first of those opened in its place that is. */
  private async runWhenReady(first: BullWorker, handler: OrderHandler): Promise<void> {
    let worker = first;
    while (!this.workerEnd) {
      try {
        await worker.waitUntilReady();
        if (!this.workerEnd) this.run(worker);
        return;
      } catch (error) {
        this.options.report('the order worker cannot connect; another is opened', error);
        void worker.close(true).catch(() => undefined);
        await wait(REOPEN_AFTER_MS);
        if (!this.workerEnd) this.worker = worker = this.openWorker(handler);
      }
    }
  }

  async pause(): Promise<void> {
    const worker = this.worker;
    this.workerEnd ??= worker ? worker.close() : Promise.resolve();
    try {
      await bounded(
        this.workerEnd,
        this.drainTimeoutMs,
        () => new Error('orders still run; handing them back'),
      );
    } catch (error) {
      this.options.report('pausing the order worker', error);
      this.handBack();
      await bounded(this.workerEnd, HAND_BACK_TIMEOUT_MS, () => new Error()).catch(() => undefined);
    }
  }

  close(): Promise<void> {
    this.closed ??= this.closeOnce();
    return this.closed;
  }

  private async closeOnce(): Promise<void> {
    await this.pause();
    const released = Promise.all([this.workerEnd, this.queue.close()]);
    await bounded(released, HAND_BACK_TIMEOUT_MS, () => new Error('connections had to be cut')).catch(
      (error: unknown) => {
        this.options.report('closing the order queue', error);
        void this.worker?.disconnect().catch(() => undefined);
        void this.queue.disconnect().catch(() => undefined);
      },
    );
    this.options.backend.disconnect();
  }

  private async work(job: Job<OrderData>, token: string | undefined, handler: OrderHandler): Promise<void> {
    // A worker told to end may still fetch one job, the one it was waiting for.
    if (!this.workerEnd) {
      const handled = handler(job.data.lane).then(
        () => true,
        (error: unknown) => {
          this.options.report(`placing lane ${job.data.lane} failed`, error);
          return true;
        },
      );
      if (await Promise.race([handled, this.handedBack])) return;
    }
    await job.moveToWait(token);
    throw new WaitingError();
  }

  private async addAll(lanes: readonly string[]): Promise<void> {
    await this.queue.addBulk(
      [...new Set(lanes)].map((lane) => ({
        name: 'place',
        data: { lane },
        opts: {
          // Not BullMQ's own counter: it begins at 1 again when Redis was emptied.
          jobId: `order-${randomUUID()}`,
          deduplication: { id: deduplicationId(lane), keepLastIfActive: true },
          removeOnComplete: true,
          removeOnFail: true,
        },
      })),
    );
  }

  /**
   * An order that stands in no list never runs, and BullMQ still takes its lane for ordered. It comes to that
   * when somebody removes a part of it by hand, or a server comes back with a part of its data.
   */
  private async forgetLostOrder(lane: string): Promise<void> {
    const jobId = await this.queue.getDeduplicationJobId(deduplicationId(lane));
    if (!jobId || (await this.queue.getJobState(jobId)) !== 'unknown') return;
    await this.queue.removeDeduplicationKey(deduplicationId(lane));
    await this.queue.remove(jobId);
  }

  private async inTime(work: () => Promise<void>): Promise<void> {
    if (this.closed) throw new QueueUnavailable('closed');
    if (!this.options.backend.available()) throw new QueueUnavailable('not connected');
    try {
      await bounded(work(), this.orderTimeoutMs, () => new QueueUnavailable('no answer in time'));
    } catch (error) {
      if (error instanceof QueueUnavailable) throw error;
      throw new QueueUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }
}

/** Lanes are long texts with any characters; BullMQ wants ids without `:` that are not all digits. */
function deduplicationId(lane: string): string {
  return `lane-${createHash('sha256').update(lane).digest('base64url')}`;
}
