import { Global, Logger, Module } from '@nestjs/common';
import { type Config, CONFIG } from '../config/config.js';
import { parseRedisUrl } from '../coordination/redis-url.js';
import { reportOnce } from '../coordination/report-once.js';
import { Shutdown } from '../lifecycle/shutdown.js';
import { DATABASE_URL } from '../postgres/postgres.module.js';
import { postgresBackend, redisBackend } from './backends.js';
import { BullOrderQueue } from './bull-order-queue.js';
import { ORDER_QUEUE, type OrderQueue } from './order-queue.js';

/** How long the start waits for a Redis that does not answer before it goes on without. */
const START_TIMEOUT_MS = 5_000;
/** Without PostgreSQL there is nothing to go on with; it may be starting itself. */
const POSTGRES_START_TIMEOUT_MS = 30_000;

/**
 * The process's `OrderQueue`, on Redis when there is one, else on Postgres.
 *
 * Plain BullMQ rather than @nestjs/bullmq: that makes queues and workers of BullMQ's process-wide default
 * backend and starts every worker at boot, while here the backend is chosen per queue, producer and worker
 * need connections of different manners, and consuming begins and ends when the scheduler says so.
 */
@Global()
@Module({
  providers: [{ provide: ORDER_QUEUE, inject: [CONFIG, DATABASE_URL, Shutdown], useFactory: openOrderQueue }],
  exports: [ORDER_QUEUE],
})
export class QueueModule {}

async function openOrderQueue(config: Config, databaseUrl: string, shutdown: Shutdown): Promise<OrderQueue> {
  const log = new Logger('OrderQueue');
  const report = reportOnce(
    (msg, err) => log.warn({ msg, err }),
    30_000,
    () => performance.now(),
  );
  const backend = config.redisUrl
    ? redisBackend(parseRedisUrl(config.redisUrl), 'reach', report)
    : postgresBackend(databaseUrl, report);
  const queue = new BullOrderQueue({ backend, report, drainTimeoutMs: config.shutdownGraceMs * 0.15 });
  shutdown.on('clients', 'order queue', () => queue.close());
  try {
    await queue.waitUntilReady(config.redisUrl ? START_TIMEOUT_MS : POSTGRES_START_TIMEOUT_MS);
  } catch (error) {
    // A Redis that is away may come; a Postgres that refuses BullMQ's schema will not change its mind.
    if (!config.redisUrl) throw error;
    report('starting without the order queue; it is tried further', error);
  }
  return queue;
}
