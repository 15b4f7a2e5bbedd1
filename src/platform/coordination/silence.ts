import { Cluster, type Redis } from 'ioredis';
import { bounded } from './bounded.js';
import { type ErrorReporter } from './coordinator.js';

const PING_TIMEOUT_MS = 1_000;

/** So many silent pings in a row, and the connection is replaced. */
const SILENT_PINGS_BEFORE_RESET = 3;

/**
 * Replaces a connection that looks alive and does not answer (a half-open one: the server or the network
 * went without a word). TCP alone would find out after many minutes. ioredis has `socketTimeout` for this,
 * but its timer outlives the connection, and then cuts the next one or keeps the process from ending.
 *
 * @param intervalMs between pings; the timer does not keep the process alive
 * @returns the function that ends it
 */
export function guardAgainstSilence(
  client: Redis | Cluster,
  intervalMs: number,
  report: ErrorReporter,
): () => void {
  const silentPings = new WeakMap<Redis, number>();
  const pinged = new WeakSet<Redis>();

  const check = async (connection: Redis): Promise<void> => {
    // `connect` is a handshake under way: a frozen server takes connections and says nothing.
    if (pinged.has(connection) || !['ready', 'connect'].includes(connection.status)) return;
    pinged.add(connection);
    try {
      await bounded(connection.ping(), PING_TIMEOUT_MS, () => new Error('no answer to a ping'));
      silentPings.delete(connection);
    } catch (error) {
      const count = (silentPings.get(connection) ?? 0) + 1;
      silentPings.set(connection, count % SILENT_PINGS_BEFORE_RESET);
      if (count < SILENT_PINGS_BEFORE_RESET) return;
      report('a redis connection is silent and is replaced', error);
      connection.disconnect(true);
    } finally {
      pinged.delete(connection);
    }
  };

  const timer = setInterval(() => {
    const connections = client instanceof Cluster ? client.nodes('all') : [client];
    for (const connection of connections) void check(connection);
  }, intervalMs).unref();
  return () => clearInterval(timer);
}
