import { setTimeout as wait } from 'node:timers/promises';
import { type BackoffPolicy, retryDelayMs, type Rng } from '../../core/backoff.js';
import { isDataError, isRetryable, sqlState } from './sql-errors.js';

/** Too many items wait already; nothing of this one was written. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/** The writer was closed before this item; nothing of it was written. */
export class WriterClosed extends Error {
  override readonly name = 'WriterClosed';
}

/** One finished turn, for metrics. */
export interface Turn {
  readonly size: number;
  readonly durationMs: number;
  /** How often the statement was repeated after an error that passes. */
  readonly retries: number;
}

export interface BatchWriterOptions<I, O> {
  readonly name: string;
  /**
   * One statement, all or nothing, safe to repeat (a commit whose answer was lost is sent again). Resolves
   * with one output per item, in the order of the items.
   */
  readonly write: (items: readonly I[]) => Promise<readonly O[]>;
  /** Most items in a statement. */
  readonly maxBatch: number;
  /** Most items that wait, beside those being written. */
  readonly maxQueue: number;
  /** Most statements at a time; 1 unless set. */
  readonly concurrency?: number;
  /** How long an item is tried again after errors that pass, counted from its arrival; 10 s unless set. */
  readonly retryForMs?: number;
  readonly onTurn?: (turn: Turn) => void;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  readonly rng?: Rng;
  readonly sleep?: (ms: number) => Promise<unknown>;
  /** Calls back soon, after what is ready now has run. */
  readonly soon?: (run: () => void) => void;
}

interface Waiting<I, O> {
  readonly item: I;
  readonly arrivedMs: number;
  readonly resolve: (output: O) => void;
  readonly reject: (error: unknown) => void;
}

const RETRY_FOR_MS = 10_000;
const BACKOFF: BackoffPolicy = { baseMs: 25, jitter: 0.5, capMs: 1_000 };

/**
 * Many callers, one multi-row statement a turn. A turn takes all that arrived while the one before it was
 * committing, so batches grow with the load, and an item that arrives at rest is written at once: there is
 * no timer that waits for company.
 *
 * A turn begins by setImmediate, after the events of this round of the loop: callers whose requests came
 * in together, or whose last item was answered by the same commit, share a statement.
 *
 * Errors are the item's or the moment's. A row that the database refuses is found by halving and fails
 * alone. An error that passes is tried again, the whole batch, until its oldest item is `retryForMs` old.
 * Anything else (a wrong statement, a statement that takes too long) fails the batch.
 */
export class BatchWriter<I, O> {
  private queue: Waiting<I, O>[] = [];
  /** First item of the queue still to be taken: shifting an array of thousands is dear. */
  private head = 0;
  private running = 0;
  private scheduled = false;
  private closed = false;
  private drained: (() => void)[] = [];

  private readonly concurrency: number;
  private readonly retryForMs: number;
  private readonly clock: () => number;
  private readonly rng: Rng;
  private readonly sleep: (ms: number) => Promise<unknown>;
  private readonly soon: (run: () => void) => void;
  private readonly startTurns = (): void => {
    this.scheduled = false;
    while (this.running < this.concurrency && this.depth > 0) void this.turn(this.take());
  };

  constructor(private readonly options: BatchWriterOptions<I, O>) {
    this.concurrency = options.concurrency ?? 1;
    this.retryForMs = options.retryForMs ?? RETRY_FOR_MS;
    this.clock = options.clock ?? (() => performance.now());
    this.rng = options.rng ?? Math.random;
    this.sleep = options.sleep ?? wait;
    this.soon = options.soon ?? setImmediate;
  }

  /** Items that wait for a turn. */
  get depth(): number {
    return this.queue.length - this.head;
  }

  /**
   * Resolves with the item's output once its statement is committed.
   * @throws Overloaded, WriterClosed, or the database's error for this item
   */
  write(item: I): Promise<O> {
    if (this.closed) return Promise.reject(new WriterClosed(`${this.options.name} is closed`));
    if (this.depth >= this.options.maxQueue) {
      return Promise.reject(new Overloaded(`${this.options.name}: ${this.depth} items wait already`));
    }
    return new Promise((resolve, reject) => {
      this.queue.push({ item, arrivedMs: this.clock(), resolve, reject });
      this.schedule();
    });
  }

  /** Takes nothing new, writes what waits, and resolves when every caller has been answered. */
  async close(): Promise<void> {
    this.closed = true;
    if (this.running === 0 && this.depth === 0) return;
    await new Promise<void>((resolve) => this.drained.push(resolve));
  }

  private schedule(): void {
    if (this.scheduled || this.running >= this.concurrency) return;
    this.scheduled = true;
    this.soon(this.startTurns);
  }

  private take(): Waiting<I, O>[] {
    const end = Math.min(this.head + this.options.maxBatch, this.queue.length);
    const batch = this.queue.slice(this.head, end);
    this.head = end;
    if (this.head === this.queue.length) {
      this.queue = [];
      this.head = 0;
    } else if (this.head >= this.options.maxQueue) {
      // What was taken is let go at the latest here, so the array stays within twice the limit.
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
    return batch;
  }

  private async turn(batch: Waiting<I, O>[]): Promise<void> {
    this.running++;
    const startedMs = this.clock();
    const retries = await this.settle(batch);
    this.running--;
    this.options.onTurn?.({ size: batch.length, durationMs: this.clock() - startedMs, retries });
    if (this.depth > 0) this.schedule();
    else if (this.running === 0 && this.closed) for (const resolve of this.drained.splice(0)) resolve();
  }

  /** Answers every caller of the batch; returns the number of repeats. Never throws. */
  private async settle(batch: readonly Waiting<I, O>[]): Promise<number> {
    const untilMs = (batch[0]?.arrivedMs ?? 0) + this.retryForMs;
    const items = batch.map(({ item }) => item);
    for (let retries = 0; ; retries++) {
      try {
        const outputs = await this.options.write(items);
        if (outputs.length !== batch.length) {
          throw new Error(`${this.options.name}: ${outputs.length} outputs for ${batch.length} items`);
        }
        for (let at = 0; at < batch.length; at++) batch[at]!.resolve(outputs[at]!);
        return retries;
      } catch (error) {
        if (isRetryable(error)) {
          const pauseMs = retryDelayMs(retries + 1, BACKOFF, this.rng);
          if (this.clock() + pauseMs < untilMs) {
            await this.sleep(pauseMs);
            continue;
          }
        } else if (batch.length > 1 && isOfOneItem(error)) {
          const middle = batch.length >> 1;
          return (
            retries + (await this.settle(batch.slice(0, middle))) + (await this.settle(batch.slice(middle)))
          );
        }
        for (const waiting of batch) waiting.reject(error);
        return retries;
      }
    }
  }
}

/** The database refused a row, or a value could not even be written down (a BigInt in JSON, a cycle). */
function isOfOneItem(error: unknown): boolean {
  return (
    isDataError(error) ||
    (sqlState(error) === null && (error instanceof TypeError || error instanceof RangeError))
  );
}
