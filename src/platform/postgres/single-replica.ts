import type pg from 'pg';
import { setTimeout as wait } from 'node:timers/promises';
import { type Log } from '../embedded/log.js';
import { StartError } from '../lifecycle/start-error.js';
import { LOCK_SPACE, LOCKS } from './advisory-locks.js';
import { connectPatiently } from './patient-client.js';

/** Another replica serves this database, and without Redis there can only be one. */
export class SecondReplica extends StartError {
  override readonly name = 'SecondReplica';
}

export interface SingleReplicaOptions {
  readonly url: string;
  /** How long a predecessor that is on its way out may still hold the lock. */
  readonly waitMs: number;
  readonly log: Log;
  /** Another replica got in while our connection was broken: this one has to end. */
  readonly onLost: () => void;
}

const POLL_MS = 100;
const RECONNECT_MS = 60_000;

/**
 * Without Redis the slots, inboxes and limits live in the memory of one process. This lock keeps a second
 * one from serving the same database: it is held by a session that lives as long as the process, and taken
 * again when the server was restarted.
 */
export class SingleReplicaLock {
  private client: pg.Client | null = null;
  private released = false;

  private constructor(private readonly options: SingleReplicaOptions) {}

  /** @throws SecondReplica when another process keeps the lock for longer than `waitMs` */
  static async acquire(options: SingleReplicaOptions): Promise<SingleReplicaLock> {
    const lock = new SingleReplicaLock(options);
    await lock.take(options.waitMs);
    return lock;
  }

  /** Gives the lock back. */
  async release(): Promise<void> {
    this.released = true;
    await this.client?.end().catch(() => undefined);
  }

  private async take(waitMs: number): Promise<void> {
    const started = performance.now();
    const { url, log } = this.options;
    const client = await connectPatiently(url, 'agent-reach replica', started + RECONNECT_MS, log);
    try {
      while (!(await tryLock(client))) {
        if (performance.now() - started >= waitMs) {
          throw new SecondReplica(
            'Another replica already serves this database. Without Redis there can only be one: ' +
              'stop the other one, or set REDIS_URL on both to run several.',
          );
        }
        await wait(POLL_MS);
      }
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    this.client = client;
    client.once('end', () => this.onEnd(client));
    // Released while we were taking it again.
    if (this.released) await client.end();
  }

  private onEnd(client: pg.Client): void {
    if (this.released || this.client !== client) return;
    this.client = null;
    void this.takeAgain();
  }

  private async takeAgain(): Promise<void> {
    while (!this.released) {
      try {
        await this.take(this.options.waitMs);
        this.options.log.info({}, 'The lock of the only replica is held again');
        return;
      } catch (error) {
        if (error instanceof SecondReplica) {
          this.options.log.error({ err: error }, 'Another replica took over while Postgres was away');
          this.options.onLost();
          return;
        }
        this.options.log.warn({ err: error }, 'The lock of the only replica could not be taken again yet');
        await wait(POLL_MS);
      }
    }
  }
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS taken', [
    LOCK_SPACE,
    LOCKS.singleReplica,
  ]);
  return rows[0]?.taken === true;
}
