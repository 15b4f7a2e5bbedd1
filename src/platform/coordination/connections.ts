import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { type RedisNode, type RedisTarget } from './redis-url.js';

/** No attempt to connect takes longer. */
const CONNECT_TIMEOUT_MS = 1_500;

/** Reconnecting waits between these, doubling with each failure. */
const BACKOFF_MIN_MS = 50;
const BACKOFF_MAX_MS = 2_000;

/**
 * How long to wait before attempt number `attempt` (1, 2, ...) to connect again: doubling up to 2 s, and
 * somewhere in the upper half of that, so that replicas do not come back in step.
 * @param random from 0 up to 1
 */
export function reconnectDelayMs(attempt: number, random: number): number {
  const fullMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** Math.min(attempt - 1, 16));
  return Math.round(fullMs * (0.5 + random / 2));
}

const nextDelayMs = (attempt: number): number => reconnectDelayMs(attempt, Math.random());

/**
 * What every connection has in common: commands are refused, not queued, while Redis is away, and are never
 * repeated after a reconnect, since nobody knows whether they were carried out.
 */
const COMMON_OPTIONS = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  // A half-open connection never says goodbye; it is cut this long after we have said it.
  disconnectTimeout: 500,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  keepAlive: 10_000,
  // A master that was demoted while we were connected to it.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

/** Opens a connection for commands; it reconnects by itself for as long as it is not disconnected. */
export function openCommandClient(target: RedisTarget): Redis | Cluster {
  return open(target, COMMON_OPTIONS, true);
}

/**
 * Opens the connection of a BullMQ worker (which makes another one like it, to block on). Here commands do
 * wait for a Redis that is away: nobody waits for them, and a worker has nothing better to do.
 */
export function openWorkerClient(target: RedisTarget): Redis | Cluster {
  const options = {
    ...COMMON_OPTIONS,
    enableOfflineQueue: true,
    autoResendUnfulfilledCommands: true,
    maxRetriesPerRequest: null,
  };
  return open(target, options, false);
}

/**
 * Opens one connection to one server, once: it does not reconnect.
 * @param node which server of a cluster
 */
export function openSingleUse(target: RedisTarget, node: RedisNode | undefined): Redis {
  return new Redis({
    ...target.options,
    ...(node ?? {}),
    ...COMMON_OPTIONS,
    lazyConnect: true,
    autoResubscribe: false,
    retryStrategy: () => null,
    ...(target.kind === 'sentinel' ? { sentinelRetryStrategy: () => null } : {}),
  });
}

function open(target: RedisTarget, options: RedisOptions, enableAutoPipelining: boolean): Redis | Cluster {
  if (target.kind !== 'cluster') {
    return new Redis({ ...target.options, ...options, enableAutoPipelining, retryStrategy: nextDelayMs });
  }
  // ioredis decides about the offline queue for a whole cluster, and its types refuse it for one node.
  const { enableOfflineQueue = true, ...nodeOptions } = options;
  return new Cluster(target.nodes, {
    enableOfflineQueue,
    enableAutoPipelining,
    clusterRetryStrategy: nextDelayMs,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    slotsRefreshInterval: 5_000,
    redisOptions: { ...target.options, ...nodeOptions },
  });
}
