/** What both sides of raw BullMQ share. Options: queue, redis {host, port} or postgres (url). */
import { createPostgresBackend, Queue, Worker } from 'bullmq';
import { options } from './role.mjs';

const POOL = 32;

const backend = options.postgres ? createPostgresBackend : undefined;

const connection = (extra) =>
  options.postgres
    ? { connectionString: options.postgres, max: POOL, migrate: true }
    : { ...options.redis, ...extra };

export function openQueue() {
  const defaultJobOptions = { removeOnComplete: true, removeOnFail: true };
  return new Queue(options.queue, { connection: connection({}), defaultJobOptions }, backend);
}

export function openWorker(process, concurrency) {
  const settings = { concurrency, removeOnComplete: { count: 0 } };
  return new Worker(
    options.queue,
    process,
    { connection: connection({ maxRetriesPerRequest: null }), ...settings },
    backend,
  );
}
