import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { type Config, CONFIG } from '../config/config.js';

/**
 * The phases of a shutdown, in order. A phase begins when every step of the one before has ended or run out
 * of time. Readiness fails the moment a shutdown begins, before the first phase.
 *
 * - `intake`: take nothing new, end long polls;
 * - `drain`: let running steps finish, or hand them back;
 * - `clients`: end sessions, the HTTP listener, queue workers, Redis;
 * - `pools`: close PostgreSQL pools;
 * - `engines`: stop servers that we started ourselves.
 */
export const PHASES = ['intake', 'drain', 'clients', 'pools', 'engines'] as const;
export type Phase = (typeof PHASES)[number];

/** Share of the grace time that a phase may use up, counted from the start of the shutdown. */
const DEADLINE: Readonly<Record<Phase, number>> = {
  intake: 0.2,
  drain: 0.6,
  clients: 0.8,
  pools: 0.9,
  engines: 1,
};

interface Step {
  readonly phase: Phase;
  readonly name: string;
  readonly run: (limitMs: number) => unknown;
}

/** One ordered, bounded end for everything that the process holds. */
@Injectable()
export class Shutdown implements OnModuleDestroy {
  private readonly log = new Logger(Shutdown.name);
  private readonly steps: Step[] = [];
  private readonly controller = new AbortController();
  private running: Promise<void> | undefined;

  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'shutdownGraceMs'>) {}

  /** True from the moment a shutdown begins. */
  get stopping(): boolean {
    return this.controller.signal.aborted;
  }

  /** Aborted when a shutdown begins. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /**
   * Adds a step. Steps of one phase run at the same time; a step that throws is logged and the rest go on.
   *
   * @param run gets the milliseconds that it has, after which the next phase begins without it.
   */
  on(phase: Phase, name: string, run: (limitMs: number) => unknown): void {
    this.steps.push({ phase, name, run });
  }

  /** Runs every phase once; later calls wait for the same run. Never rejects, and ends within the grace time. */
  run(): Promise<void> {
    this.running ??= this.runPhases();
    return this.running;
  }

  onModuleDestroy(): Promise<void> {
    return this.run();
  }

  private async runPhases(): Promise<void> {
    const started = performance.now();
    this.controller.abort();
    for (const phase of PHASES) {
      const untilMs = started + this.config.shutdownGraceMs * DEADLINE[phase];
      const steps = this.steps.filter((step) => step.phase === phase);
      await Promise.all(steps.map((step) => this.bounded(step, untilMs - performance.now())));
    }
  }

  private async bounded(step: Step, limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, Math.max(1, limitMs), 'late');
    });
    try {
      const end = await Promise.race([Promise.resolve(limitMs).then(step.run), late]);
      if (end === 'late')
        this.log.warn({ msg: 'shutdown step ran out of time', phase: step.phase, step: step.name });
    } catch (err) {
      this.log.warn({ msg: 'shutdown step failed', phase: step.phase, step: step.name, err });
    } finally {
      clearTimeout(timer);
    }
  }
}
