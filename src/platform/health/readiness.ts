import { Injectable } from '@nestjs/common';
import { Shutdown } from '../lifecycle/shutdown.js';

/** Longest time that one check may take. */
const CHECK_LIMIT_MS = 2000;

/** The answer of `/readyz`. */
export interface Report {
  ready: boolean;
  checks: Record<string, string>;
}

/** Whether this process can do its work now. Others add the checks. */
@Injectable()
export class Readiness {
  private readonly checks = new Map<string, () => unknown>();
  private readonly watched = new Set<string>();
  private started = false;

  constructor(private readonly shutdown: Shutdown) {}

  /** Adds a check: it throws, or rejects, with the reason when not ready. */
  add(name: string, check: () => unknown): void {
    this.checks.set(name, check);
  }

  /** As `add`, for something that can be done without: it is reported, and does not make the process unready. */
  watch(name: string, check: () => unknown): void {
    this.add(name, check);
    this.watched.add(name);
  }

  /** Called once, when everything is wired and listening. */
  markStarted(): void {
    this.started = true;
  }

  /** True once the process has started; stays true. */
  get isStarted(): boolean {
    return this.started;
  }

  /** Runs every check at once, each bounded. Not ready while starting and from the start of a shutdown on. */
  async report(): Promise<Report> {
    const entries = await Promise.all(
      [...this.checks].map(async ([name, check]) => [name, await outcome(check)] as const),
    );
    const checks: Record<string, string> = Object.fromEntries(entries);
    if (!this.started) checks['process'] = 'starting';
    if (this.shutdown.stopping) checks['process'] = 'stopping';
    const ready = Object.entries(checks).every(([name, text]) => text === 'ok' || this.watched.has(name));
    return { ready, checks };
  }
}

async function outcome(check: () => unknown): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${CHECK_LIMIT_MS} ms`)), CHECK_LIMIT_MS);
  });
  try {
    await Promise.race([Promise.resolve().then(check), late]);
    return 'ok';
  } catch (error) {
    return error instanceof Error && error.message ? error.message : 'failed';
  } finally {
    clearTimeout(timer);
  }
}
