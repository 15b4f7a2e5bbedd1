import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';

/*
 * Design note. A heartbeat that died in silence is the classic way for a healthy agent to be taken for dead.
 * So the beat has no chain that can break: an interval timer calls a function that cannot throw, and a second
 * timer, the watchdog, compares the age of the last beat with the interval and starts the first one anew.
 */

export interface HeartbeatDeps {
  /** Renews the lease; its failures are its own business. */
  beat: () => Promise<unknown>;
  /** The loop was stalled, or the event loop blocked, for so long that a beat was missed. */
  late: (lateMs: number) => void;
  error: (error: unknown) => void;
}

/** Beats at a fixed interval, whatever happens. */
export class Heartbeat {
  private timer: NodeJS.Timeout | undefined;
  private watchdog: NodeJS.Timeout | undefined;
  private intervalMs = 15_000;
  private lastTickAt = 0;
  private beating = false;

  constructor(private readonly deps: HeartbeatDeps) {}

  /** Starts, or changes the interval. The first beat comes after one interval. */
  start(intervalMs: number): void {
    if (this.timer && intervalMs === this.intervalMs) return;
    this.stop();
    this.intervalMs = intervalMs;
    this.lastTickAt = performance.now();
    this.timer = setInterval(() => this.tick(), intervalMs);
    this.watchdog = setInterval(() => this.check(), Math.max(20, intervalMs / 2));
    this.watchdog.unref();
  }

  stop(): void {
    clearInterval(this.timer);
    clearInterval(this.watchdog);
    this.timer = undefined;
    this.watchdog = undefined;
  }

  private tick(): void {
    const lateMs = performance.now() - this.lastTickAt - this.intervalMs;
    this.lastTickAt = performance.now();
    if (lateMs > this.intervalMs) this.report(lateMs);
    if (this.beating) return;
    this.beating = true;
    void this.beatSafely().finally(() => {
      this.beating = false;
    });
  }

  private async beatSafely(): Promise<void> {
    try {
      await this.deps.beat();
    } catch (error) {
      this.report(undefined, error);
    }
  }

  private check(): void {
    const lateMs = performance.now() - this.lastTickAt - this.intervalMs;
    if (lateMs <= this.intervalMs) return;
    clearInterval(this.timer);
    this.timer = setInterval(() => this.tick(), this.intervalMs);
    this.beating = false;
    this.tick();
  }

  private report(lateMs: number | undefined, error?: unknown): void {
    try {
      if (lateMs !== undefined) this.deps.late(Math.round(lateMs));
      else this.deps.error(error);
    } catch {
      // Nobody listens properly; the beat goes on.
    }
  }
}

const RESOLUTION_MS = 20;

/** How late the event loop runs its timers: the busy agent's own evidence that it is busy, not dead. */
export class LoopDelay {
  private readonly histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  start(): void {
    this.histogram.enable();
  }

  stop(): void {
    this.histogram.disable();
  }

  /** The 99th percentile since the last call, in milliseconds. */
  takeMs(): number {
    const p99 = this.histogram.percentile(99) / 1e6 - RESOLUTION_MS;
    this.histogram.reset();
    return Number.isFinite(p99) ? Math.max(0, Math.round(p99 * 10) / 10) : 0;
  }
}
