import { type ErrorReporter } from './coordinator.js';

export type EpochWatchOptions = {
  /** Reads the epochs, one a shard; each promise settles within about a second. */
  readEpochs: () => Promise<string>[];
  /** What was kept may be gone or stale. */
  onLost: () => void;
  report: ErrorReporter;
  intervalMs: number;
};

/**
 * Looks once an interval whether this is still the Redis we knew. It is trusted from the first check that
 * succeeds until one fails or the connection ends, so that `onLost` has run before anybody uses a Redis that
 * came back empty.
 */
export class EpochWatch {
  private readonly known = new Map<number, string>();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isSilent = false;
  private isTrusted = false;
  private stopped = false;

  constructor(private readonly options: EpochWatchOptions) {}

  /** Whether the last check succeeded. */
  get trusted(): boolean {
    return this.isTrusted;
  }

  /** Starts checking once an interval; the timer does not keep the process alive. */
  start(): void {
    this.timer = setInterval(() => void this.check(), this.options.intervalMs).unref();
  }

  /** Stops for good. */
  stop(): void {
    this.stopped = true;
    this.isTrusted = false;
    clearInterval(this.timer);
  }

  /** The connection ended: nothing is trusted until a check succeeds. */
  distrust(): void {
    this.isTrusted = false;
  }

  /** Checks now, or joins the check that is running. Never rejects. */
  check(): Promise<void> {
    this.running ??= this.checkOnce().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async checkOnce(): Promise<void> {
    const results = await Promise.allSettled(this.options.readEpochs());
    if (this.stopped) return;
    let lost = false;
    results.forEach((result, shard) => {
      if (result.status === 'rejected') return;
      const before = this.known.get(shard);
      lost ||= before !== undefined && before !== result.value;
      this.known.set(shard, result.value);
    });
    // A shard that is away takes its own keys out of reach, not those of the others.
    const failed = results.find((result) => result.status === 'rejected');
    if (failed && results.every((result) => result.status === 'rejected')) this.silent(failed.reason);
    else this.answered();
    if (lost) this.options.onLost();
  }

  private answered(): void {
    if (this.isSilent) this.options.report('redis answers again', undefined);
    this.isSilent = false;
    this.isTrusted = true;
  }

  private silent(reason: unknown): void {
    if (!this.isSilent) this.options.report('redis does not answer', reason);
    this.isSilent = true;
    this.isTrusted = false;
  }
}
