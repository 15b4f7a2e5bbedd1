import { Logger } from '@nestjs/common';

/**
 * Runs one step again and again: never twice at once, never ended by an error. The time between the end of a
 * run and the start of the next is `intervalMs`, spread by a tenth so that replicas do not march in step.
 */
export class Ticker {
  private readonly log = new Logger(Ticker.name);
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopped = true;

  constructor(
    private readonly name: string,
    private readonly intervalMs: number,
    private readonly step: () => Promise<void>,
    private readonly rng: () => number = Math.random,
  ) {}

  start(): void {
    this.stopped = false;
    this.schedule(this.intervalMs * (0.9 + 0.2 * this.rng()));
  }

  /** Runs now, or once more after the run under way. */
  soon(): void {
    if (this.stopped) return;
    this.within(0);
  }

  /** Runs within `ms` at the latest; a run that is under way does not count. */
  within(ms: number): void {
    if (this.stopped) return;
    if (this.running !== undefined) this.nextMs = Math.min(this.nextMs, ms);
    else if (performance.now() + ms < this.dueAt) this.schedule(ms);
  }

  /** Resolves when nothing runs and nothing will. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private dueAt = Infinity;
  /** How long to wait after the run under way. */
  private nextMs = Infinity;

  private schedule(ms: number): void {
    clearTimeout(this.timer);
    if (this.stopped) return;
    this.dueAt = performance.now() + ms;
    this.timer = setTimeout(() => this.run(), ms);
    this.timer.unref();
  }

  private run(): void {
    this.dueAt = Infinity;
    this.running = this.step()
      .catch((err: unknown) => this.log.warn({ msg: `${this.name} failed; it will be tried again`, err }))
      .finally(() => {
        this.running = undefined;
        const nextMs = Math.min(this.nextMs, this.intervalMs * (0.9 + 0.2 * this.rng()));
        this.nextMs = Infinity;
        this.schedule(nextMs);
      });
  }
}
