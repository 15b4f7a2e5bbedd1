import { spawnSync } from 'node:child_process';
import { RedisServer } from './redis-server.js';

/** A Redis of one test file: `url` names it, `prefix` keeps its keys apart from others'. */
export type TestRedis = { url: string; prefix: string; stop: () => Promise<void> };

/**
 * `describe` for suites that start servers of their own. Without a `redis-server` on PATH they are skipped,
 * except on CI, where they fail: a check that silently does not run is none.
 */
export const describeWithRedisServer: jest.Describe = (() => {
  if (spawnSync('redis-server', ['--version']).status === 0) return describe;
  const message = 'no redis-server on PATH: install Redis (Debian: apt-get install redis-server)';
  if (process.env['CI']) throw new Error(message);
  console.warn(`skipped: ${message}`);
  return describe.skip;
})();

/** `describe` for suites that any Redis will do for: REDIS_URL, or else a server of their own. */
export const describeWithRedis = process.env['REDIS_URL'] ? describe : describeWithRedisServer;

/** The Redis of REDIS_URL under a prefix of its own, or a server just for the caller. */
export async function anyRedis(): Promise<TestRedis> {
  const prefix = `test-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const url = process.env['REDIS_URL'];
  if (url) return { url, prefix, stop: async () => undefined };
  const server = await RedisServer.start();
  return { url: server.url, prefix, stop: () => server.stop() };
}
