import type { EventEmitter } from 'node:events';
import {
  createPostgresBackend,
  type PgPool,
  Queue,
  withBackend,
  Worker,
  type Processor,
  type WorkerOptions,
} from 'bullmq';
import { type Cluster, type Redis } from 'ioredis';
import pg from 'pg';
import { openCommandClient, openWorkerClient } from '../coordination/connections.js';
import { type RedisTarget } from '../coordination/redis-url.js';
import { guardAgainstSilence } from '../coordination/silence.js';

/** What is used of BullMQ's queue, which has another type for each backend. */
export type BullQueue = Pick<
  Queue<OrderData>,
  | 'addBulk'
  | 'waitUntilReady'
  | 'getDeduplicationJobId'
  | 'getJobState'
  | 'removeDeduplicationKey'
  | 'remove'
  | 'close'
  | 'disconnect'
> & { on(event: 'error', listener: (error: Error) => void): unknown };

/** What is used of BullMQ's worker. */
export type BullWorker = Pick<Worker, 'waitUntilReady' | 'close' | 'disconnect' | 'run'> & {
  on(event: 'error', listener: (error: Error) => void): unknown;
};

export type OrderData = { lane: string };

/** One of the two places BullMQ keeps its jobs in. */
export interface QueueBackend {
  /** False when adding is known to fail. */
  available(): boolean;
  /**
   * Whether a queue or worker whose first attempt to connect failed fails for good, so that another has to be opened.
   * A worker of that kind must not run: it would ask on and on without giving the event loop a turn.
   */
  readonly firstConnectionDecides: boolean;
  openQueue(name: string): BullQueue;
  openWorker(name: string, processor: Processor<OrderData>, options: OrderWorkerOptions): BullWorker;
  /** Cuts every connection that is still open, without waiting for anybody. */
  disconnect(): void;
}

export type OrderWorkerOptions = Omit<WorkerOptions, 'connection' | 'prefix'>;

export type ReportError = (message: string, error: unknown) => void;

/**
 * Orders in Redis. The producer's connection refuses commands while Redis is away, the worker's keeps them.
 * The prefix is a hash tag: all keys of the queue lie in one slot of a cluster, as BullMQ's scripts need it.
 */
export function redisBackend(target: RedisTarget, keyPrefix: string, report: ReportError): QueueBackend {
  const prefix = `{${keyPrefix}}`;
  const guarded = (client: Redis | Cluster) => {
    // BullMQ reports the errors, but not from the first to the last moment.
    client.on('error', () => undefined);
    return { client, stopGuard: guardAgainstSilence(client, GUARD_INTERVAL_MS, report) };
  };
  const producer = guarded(openCommandClient(target));
  let consumer: ReturnType<typeof guarded> | undefined;
  return {
    available: () => producer.client.status === 'ready',
    firstConnectionDecides: false,
    openQueue: (name) =>
      new Queue<OrderData>(name, {
        connection: producer.client,
        prefix,
        // Both would send a command at a moment of their own choosing, which may fail, and then for good.
        skipVersionCheck: true,
        skipMetasUpdate: true,
      }),
    openWorker: (name, processor, options) => {
      consumer = guarded(openWorkerClient(target));
      return new Worker<OrderData>(name, processor, { ...options, connection: consumer.client, prefix });
    },
    disconnect: () => {
      for (const connection of [producer, consumer]) {
        connection?.stopGuard();
        connection?.client.disconnect();
      }
    },
  };
}

/** How often each connection to Redis is asked whether it is still there. */
const GUARD_INTERVAL_MS = 2_000;

/** Milliseconds after which a statement or an attempt to connect is given up. */
const POSTGRES_TIMEOUT_MS = 5_000;
/** BullMQ's own name for it. */
const POSTGRES_SCHEMA = 'bullmq';
/** Before a connection that fell silent is asked whether it is still there. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/**
 * Orders in Postgres, in a schema of BullMQ's own. New orders are announced by LISTEN/NOTIFY; besides that, an
 * idle worker looks once in its drain delay, and for stalled orders once in the stalled interval.
 *
 * The worker works on a pool of ours: a connection for LISTEN that BullMQ makes itself has no listener for errors right
 * after it is made, nor while it is closed, and a server that ends at such a moment would end the process. One that is
 * taken out of a pool keeps the listener it was born with, and gets the pool's when it is given back.
 */
export function postgresBackend(connectionString: string, report: ReportError): QueueBackend {
  const connection = {
    connectionString,
    connectionTimeoutMillis: POSTGRES_TIMEOUT_MS,
    query_timeout: POSTGRES_TIMEOUT_MS,
    keepAlive: true,
    onConnect: (client: EventEmitter) => void client.on('error', () => undefined),
    // One that ended together with the greeting is not handed out: BullMQ would keep it, and listen on it for ever.
    verify: (client: pg.PoolClient, done: (error?: Error) => void) =>
      void client.query('SELECT 1').then(() => done(), done),
  };
  // Not BullMQ's process-wide default backend: that would be for whoever uses BullMQ in this process.
  const onPostgres = withBackend(createPostgresBackend);
  let pool: pg.Pool | undefined;
  const endPool = () => void pool?.end().catch(() => undefined);
  const newPool = (): pg.Pool => {
    // A worker is opened anew where the one before could not connect.
    endPool();
    pool = new pg.Pool({
      ...connection,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      max: 5,
      application_name: 'reach-placement',
      options: `-c search_path=${POSTGRES_SCHEMA}`,
    });
    return pool.on('error', (error) => report('a connection of the order worker', error));
  };
  return {
    available: () => true,
    // BullMQ keeps the outcome of the first attempt, and hands it to every later call.
    firstConnectionDecides: true,
    openQueue: (name) =>
      new onPostgres.Queue<OrderData>(name, {
        connection: { ...connection, max: 2, migrate: true, application_name: 'reach-orders' },
      }),
    openWorker: (name, processor, options) =>
      new onPostgres.Worker<OrderData>(name, processor, {
        ...options,
        // BullMQ writes its events one by one, which is all that the types differ in.
        connection: newPool() as unknown as PgPool,
      }),
    disconnect: endPool,
  };
}
