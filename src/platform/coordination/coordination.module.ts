import { Global, Logger, Module } from '@nestjs/common';
import { type Config, CONFIG } from '../config/config.js';
import { Readiness } from '../health/readiness.js';
import { Shutdown } from '../lifecycle/shutdown.js';
import { StartError } from '../lifecycle/start-error.js';
import { Metrics } from '../telemetry/metrics.js';
import { COORDINATOR, type Coordinator } from './coordinator.js';
import { LocalCoordinator } from './local.js';
import { describeRedis, parseRedisUrl } from './redis-url.js';
import { RedisCoordinator } from './redis.js';
import { reportOnce } from './report-once.js';

/** How long the start waits for a Redis that does not answer before it goes on without. */
const START_TIMEOUT_MS = 5_000;

/** The process's `Coordinator`: on Redis when there is one, else in this process. */
@Global()
@Module({
  providers: [
    { provide: COORDINATOR, inject: [CONFIG, Shutdown, Readiness, Metrics], useFactory: openCoordinator },
  ],
  exports: [COORDINATOR],
})
export class CoordinationModule {}

async function openCoordinator(
  config: Config,
  shutdown: Shutdown,
  readiness: Readiness,
  metrics: Metrics,
): Promise<Coordinator> {
  const log = new Logger('Coordinator');
  const clock = () => performance.now();
  const report = reportOnce((msg, err) => log.warn({ msg, err }), 30_000, clock);
  if (!config.redisUrl) {
    const local = new LocalCoordinator({ clock, report });
    shutdown.on('pools', 'coordinator', () => local.close());
    return local;
  }
  const target = parseRedisUrl(config.redisUrl);
  const shared = new RedisCoordinator({ target, callTimeoutMs: config.redisTimeoutMs, report });
  // After the clients, which still release and publish things on their way out.
  shutdown.on('pools', 'coordinator', () => shared.close());
  // Readiness does not depend on it: heartbeats, results and new tasks go to the ledger all the same, and a
  // load balancer that took every replica out would turn the loss of Redis into that of everything. It is told all
  // the same: whoever wonders why tasks wait looks there.
  readiness.watch('redis', () => {
    if (!shared.available()) throw new Error('does not answer: tasks are accepted, and wait');
  });
  metrics.gauge('reach_redis_up', '1 while Redis can be used; without it nothing is given out', [], (gauge) =>
    gauge.set(shared.available() ? 1 : 0),
  );
  const usable = await shared.waitUntilAvailable(START_TIMEOUT_MS);
  if (typeof usable === 'object') {
    await shared.close();
    // It would never get better; and a wrong number of the database ends up in another one.
    throw new StartError(`Redis refuses what REDIS_URL says: ${usable.refusal}; ${describeRedis(target)}`);
  }
  if (usable) log.log(`using ${describeRedis(target)}`);
  else log.warn(`${describeRedis(target)} cannot be reached; starting without, and trying further`);
  return shared;
}
