import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import { ScheduleStore } from './schedules/schedule.store.js';

const PURGE_KEYS = loadSql(import.meta.url, 'sql/purge_keys.sql');
const PURGE_CALLBACKS = loadSql(import.meta.url, 'sql/purge_callbacks.sql');

const EVERY_MS = 60_000;
const BATCH = 5000;

/**
 * Ends what does not live in daily partitions: idempotency keys (their unique index cannot be partitioned by
 * time), callbacks that were given up and firings of schedules. Small deletes, often, so that none is ever a big one.
 */
@Injectable()
export class Retention implements OnApplicationBootstrap {
  private readonly ticker: Ticker;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly sql: Sql,
    private readonly schedules: ScheduleStore,
    shutdown: Shutdown,
  ) {
    this.ticker = new Ticker('retention', EVERY_MS, () => this.purge());
    shutdown.on('intake', 'retention', () => this.ticker.stop());
  }

  onApplicationBootstrap(): void {
    this.ticker.start();
  }

  /** One round. */
  async purge(): Promise<void> {
    const keys = await this.sql.run('purge_keys', PURGE_KEYS, [this.config.idempotencyTtlMs, BATCH]);
    await this.sql.run('purge_callbacks', PURGE_CALLBACKS, [this.config.retentionDays, BATCH]);
    await this.schedules.purge(this.config.retentionDays, BATCH);
    if (keys.rowCount === BATCH) this.ticker.soon();
  }
}
