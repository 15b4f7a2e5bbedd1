import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { Ledger } from './ledger.js';
import { withClient } from './system/postgres.js';

const EVERY_MS = 1500;
/** A slot of a delivery that ended longer ago than this should be free. */
const FREE_WITHIN_S = 3;

/** Looks at the slots of all agents now and then, and notes those whose delivery ended a while ago. */
export class Sampler {
  private stopped = false;
  private round: Promise<void> = Promise.resolve();

  constructor(
    private readonly url: string,
    private readonly redis: Redis,
    private readonly namespace: string,
    private readonly ledger: Ledger,
  ) {}

  start(): void {
    this.round = this.go();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.round;
  }

  private async go(): Promise<void> {
    while (!this.stopped) {
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      // What is broken just now is looked at the next time.
      await this.look().catch(() => undefined);
    }
  }

  private async look(): Promise<void> {
    if (this.redis.status !== 'ready') return;
    const keys = await this.redis.keys(`reach:{${this.namespace}\u0000*}:slots`);
    const held = (await Promise.all(keys.map((key) => this.redis.hkeys(key))))
      .flat()
      .filter((id) => id !== '');
    if (held.length === 0) return;
    const ended = await withClient(this.url, (client) => endedAgo(client, held));
    for (const delivery of ended) this.ledger.write({ event: 'slot_kept', delivery });
  }
}

async function endedAgo(client: pg.Client, deliveries: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT d.task_id || '.' || d.fence AS id FROM unnest($1::text[]) AS held (id)
       JOIN deliveries d ON d.task_id = split_part(held.id, '.', 1)::uuid
        AND d.fence = split_part(held.id, '.', 2)::int
      WHERE d.finished_at < now() - $2 * interval '1 s'`,
    [deliveries, FREE_WITHIN_S],
  );
  return rows.map((row) => row.id);
}
