import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type Ledger, nowMs } from './ledger.js';
import type { System } from './system/system.js';

const BEAT_MS = 50;
/** Whoever is later than this tells of a machine that is too busy to hold anybody to deadlines. */
const STALL_MS = 250;
const LOOK_EVERY_MS = 500;
const ANSWER_WITHIN_MS = 10_000;

/**
 * Notes when the machine, and not the product, is slow: when our own timers are late, when a process of the run
 * waits for a processor for half of the time, and when Postgres is long at answering nothing much.
 */
export class Pulse {
  private beat: NodeJS.Timeout | undefined;
  private stopped = false;
  private looks: Promise<unknown> = Promise.resolve();
  private readonly waited = new Map<number, number>();

  constructor(
    private readonly system: System,
    private readonly ledger: Ledger,
  ) {}

  start(): void {
    let last = nowMs();
    this.beat = setInterval(() => {
      const ms = nowMs() - last - BEAT_MS;
      last += ms + BEAT_MS;
      if (ms > STALL_MS) this.stall(ms, 'timers');
    }, BEAT_MS);
    this.looks = Promise.all([this.lookAtProcesses(), this.askPostgres()]);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.beat);
    await this.looks;
  }

  private stall(ms: number, of: string): void {
    this.ledger.write({ event: 'stall', ms: Math.round(ms), of });
  }

  private async lookAtProcesses(): Promise<void> {
    let last = nowMs();
    while (!this.stopped) {
      await pause(LOOK_EVERY_MS);
      const sinceMs = nowMs() - last;
      last += sinceMs;
      for (const pid of [...this.system.dispatchers, ...this.system.groups].map((p) => p.pid)) {
        const waitedMs = pid === undefined ? undefined : waitedForProcessor(pid);
        if (pid === undefined || waitedMs === undefined) continue;
        const more = waitedMs - (this.waited.get(pid) ?? waitedMs);
        this.waited.set(pid, waitedMs);
        if (more > sinceMs / 2) this.stall(sinceMs, 'a process');
      }
    }
  }

  private async askPostgres(): Promise<void> {
    let client: pg.Client | undefined;
    while (!this.stopped) {
      await pause(LOOK_EVERY_MS);
      const began = nowMs();
      try {
        client ??= await connected(this.system.postgres.url);
        await client.query('SELECT 1');
        if (nowMs() - began > STALL_MS) this.stall(nowMs() - began, 'postgres');
      } catch {
        // It is down, and that is in the ledger as what took it down.
        await client?.end().catch(() => undefined);
        client = undefined;
      }
    }
    await client?.end().catch(() => undefined);
  }
}

/** How long a process's main thread was ready to run and did not, since its start, in ms. */
function waitedForProcessor(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return undefined;
  }
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
