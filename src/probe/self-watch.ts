import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { StallWatch } from '../core/stall-watch.js';
import { Readiness } from '../platform/health/readiness.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { Hearing } from '../registry/hearing.js';
import { Canary } from './canary.js';
import { Journal } from './journal.js';

const TICK_MS = 100;
/** A turn of the event loop that takes this long makes what was measured meanwhile worthless. */
const STALL_MS = 400;
/** A stall this long is told: it is trouble of ours, not a hiccup. */
const TOLD_STALL_MS = 1000;
const CHECK_EVERY_MS = 5000;
/** A mass change is over when nothing more of it was seen for this long. */
const MASS_OVER_MS = 10_000;

type DoubtKind = 'canary' | 'stall' | 'mass';

/**
 * The prober watches itself: its event loop, its own port, its database. While it has reason to doubt itself no
 * failure counts against anybody, `/readyz` says so, and leases are ended only one full lease after trust is back.
 */
@Injectable()
export class SelfWatch implements OnApplicationBootstrap {
  private readonly log = new Logger(SelfWatch.name);
  private readonly stalls = new StallWatch(performance.now(), STALL_MS);
  private readonly ticker = new Ticker(
    'prober self-watch',
    CHECK_EVERY_MS,
    async () => void (await this.check()),
  );
  private timer: NodeJS.Timeout | undefined;
  private checking: Promise<boolean> | undefined;
  private reason: string | undefined;
  private mass: { reason: string; seenMs: number } | undefined;
  private readonly doubts;

  constructor(
    private readonly canary: Canary,
    private readonly hearing: Hearing,
    private readonly journal: Journal,
    readiness: Readiness,
    metrics: Metrics,
    private readonly shutdown: Shutdown,
  ) {
    this.doubts = metrics.counter(
      'reach_prober_doubts_total',
      'Times that the prober began to doubt itself',
      ['kind'],
    );
    metrics.gauge(
      'reach_prober_doubt',
      '1 while the prober doubts itself and counts no failure',
      [],
      (gauge) => gauge.set(this.doubt === undefined ? 0 : 1),
    );
    readiness.watch('prober', () => {
      if (this.reason !== undefined) throw new Error(`verdicts are frozen: ${this.reason}`);
      if (this.mass !== undefined) throw new Error(`verdicts wait to be confirmed: ${this.mass.reason}`);
    });
    shutdown.on('intake', 'prober self-watch', () => this.stop());
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.timer.unref();
    this.ticker.start();
  }

  /** Why the prober doubts itself now. */
  get doubt(): string | undefined {
    return this.reason ?? this.mass?.reason;
  }

  /** Whether a failure of a probe that began at `startedMs` (monotonic) may be ours as well as the target's. */
  mayBeOurs(startedMs: number): boolean {
    return this.reason !== undefined || this.stalls.stalledSince(startedMs, performance.now());
  }

  /**
   * So many agents of a namespace would turn at once that it may be us: their verdicts wait for a look at ourselves and
   * for one more round.
   */
  doubtMass(namespace: string): void {
    // The name is for the log alone: everybody may read the rest.
    const reason = 'most agents of a namespace would turn at once';
    if (this.mass === undefined) this.tell('mass', reason, { namespace });
    this.mass = { reason, seenMs: performance.now() };
  }

  /** Looks now whether we are well; calls at the same time share one look. */
  check(): Promise<boolean> {
    this.checking ??= this.look().finally(() => (this.checking = undefined));
    return this.checking;
  }

  private async look(): Promise<boolean> {
    const startedMs = performance.now();
    const wrong = await this.canary.check();
    if (this.shutdown.stopping) return false;
    if (wrong !== undefined && this.stalls.stalledSince(startedMs, performance.now())) return false;
    if (wrong !== undefined) this.hearing.broken();
    this.turn(wrong);
    this.endMass();
    this.journal.flush();
    return wrong === undefined;
  }

  private turn(reason: string | undefined): void {
    if (reason !== undefined && this.reason === undefined) this.tell('canary', reason);
    if (reason === undefined && this.reason !== undefined) this.trust('canary', this.reason);
    this.reason = reason;
    // In doubt it looks again soon: trust is to come back as soon as there is reason for it.
    if (reason !== undefined) this.ticker.within(1000);
  }

  private tick(): void {
    // Leases may be shorter than the time between two looks.
    if (this.reason !== undefined) this.hearing.broken();
    const stalledMs = this.stalls.tick(performance.now());
    if (stalledMs >= TOLD_STALL_MS)
      this.tellStall(`this process stood still for ${Math.round(stalledMs)} ms`);
  }

  /** It is over by the time that it is seen; only what was measured meanwhile is worthless. */
  private tellStall(reason: string): void {
    this.tell('stall', reason);
    this.trust('stall', reason);
  }

  private endMass(): void {
    if (this.mass === undefined || performance.now() - this.mass.seenMs < MASS_OVER_MS) return;
    this.trust('mass', this.mass.reason);
    this.mass = undefined;
  }

  private trust(kind: DoubtKind, reason: string): void {
    this.log.log({
      event: 'reach_prober_trust',
      msg: 'the prober trusts itself again; verdicts count',
      kind,
    });
    this.journal.note('trust', `over: ${reason}`, { kind });
  }

  private tell(kind: DoubtKind, reason: string, more: object = {}): void {
    this.doubts.inc({ kind });
    this.journal.note('doubt', reason, { kind });
    this.log.warn({
      event: 'reach_prober_doubt',
      msg: `the prober doubts itself: ${reason}; probes that fail meanwhile count against nobody`,
      kind,
      reason,
      ...more,
    });
  }

  private async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.ticker.stop();
  }
}
