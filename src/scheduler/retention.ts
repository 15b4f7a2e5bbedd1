import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';

const PURGE_KEYS = loadSql(import.meta.url, 'sql/purge_keys.sql');
const PURGE_CALLBACKS = loadSql(import.meta.url, 'sql/purge_callbacks.sql');

const EVERY_MS = 60_000;
const BATCH = 5000;

/**
 * Ends what does not live in daily partitions: idempotency keys (their unique index cannot be partitioned by
 * time) and callbacks that were given up. Small deletes, often, so that none is ever a big one.
 */
@Injectable()
export class Retention implements OnApplicationBootstrap {
  private readonly ticker: Ticker;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly sql: Sql,
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
    if (keys.rowCount === BATCH) this.ticker.soon();
  }
}
