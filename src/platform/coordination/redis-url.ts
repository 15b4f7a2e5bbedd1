import { type RedisOptions } from 'ioredis';

/** Where Redis is, as REDIS_URL says it. */
export type RedisTarget =
  | { kind: 'single'; options: RedisOptions }
  | { kind: 'sentinel'; options: RedisOptions }
  | { kind: 'cluster'; nodes: RedisNode[]; options: RedisOptions };

export type RedisNode = { host: string; port: number };

const FORMS: Record<string, { kind: RedisTarget['kind']; tls: boolean; port: number }> = {
  redis: { kind: 'single', tls: false, port: 6379 },
  rediss: { kind: 'single', tls: true, port: 6379 },
  'redis-sentinel': { kind: 'sentinel', tls: false, port: 26379 },
  'rediss-sentinel': { kind: 'sentinel', tls: true, port: 26379 },
  'redis-cluster': { kind: 'cluster', tls: false, port: 6379 },
  'rediss-cluster': { kind: 'cluster', tls: true, port: 6379 },
};

const SHAPE =
  /^(?<scheme>[a-z-]+):\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^/?#]+)(?:\/(?<path>[^?#]*))?(?<rest>[?#].*)?$/;

/**
 * Reads REDIS_URL. The forms, with an `s` after the first `redis` for TLS, and user and password
 * percent-encoded:
 *
 *     redis://[user:password@]host[:port][/db]
 *     redis-sentinel://[user:password@]host[:port],host[:port][/db]#master-name
 *     redis-cluster://[user:password@]host[:port],host[:port]
 *
 * Several hosts after a plain `redis://` mean a cluster. User and password are those of Redis, for the
 * sentinels too.
 *
 * @throws Error that says what is wrong and never repeats the URL, which may hold a password.
 */
export function parseRedisUrl(url: string): RedisTarget {
  const parts = SHAPE.exec(url.trim())?.groups;
  const form = parts && FORMS[parts['scheme'] ?? ''];
  if (!parts || !form) {
    throw new Error(`REDIS_URL must look like redis://host:6379 (also: ${Object.keys(FORMS).join(', ')})`);
  }
  const nodes = (parts['hosts'] ?? '').split(',').map((host) => parseNode(host, form.port));
  const [first] = nodes;
  if (!first) throw new Error('REDIS_URL names no host');
  const kind = form.kind === 'single' && nodes.length > 1 ? 'cluster' : form.kind;
  const master = parseMaster(parts['rest'], kind);
  const db = parseDb(parts['path'], kind);
  const options: RedisOptions = {
    ...(parts['user'] ? { username: decodePart(parts['user']) } : {}),
    ...(parts['password'] ? { password: decodePart(parts['password']) } : {}),
    ...(form.tls ? { tls: {} } : {}),
  };
  switch (kind) {
    case 'single':
      return { kind, options: { ...options, ...first, db } };
    case 'cluster':
      return { kind, nodes, options };
    case 'sentinel':
      return { kind, options: { ...options, ...sentinelOptions(options, nodes, master, form.tls), db } };
  }
}

/** The target without its secrets, for logs. */
export function describeRedis(target: RedisTarget): string {
  switch (target.kind) {
    case 'single':
      return `redis at ${target.options.host}:${target.options.port}/${target.options.db}`;
    case 'sentinel':
      return `redis master ${target.options.name} (sentinel)`;
    case 'cluster':
      return `redis cluster at ${target.nodes.map((node) => `${node.host}:${node.port}`).join(', ')}`;
  }
}

function sentinelOptions(
  shared: RedisOptions,
  nodes: RedisNode[],
  master: string,
  tls: boolean,
): Partial<RedisOptions> {
  return {
    sentinels: nodes,
    name: master,
    ...(shared.username ? { sentinelUsername: shared.username } : {}),
    ...(shared.password ? { sentinelPassword: shared.password } : {}),
    ...(tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
  };
}

function parseNode(text: string, defaultPort: number): RedisNode {
  const match = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[^:[\]]+))(?::(?<port>\d{1,5}))?$/.exec(text.trim());
  const host = match?.groups?.['v6'] ?? match?.groups?.['name'];
  const port = Number(match?.groups?.['port'] ?? defaultPort);
  if (!host || port < 1 || port > 65535) {
    throw new Error('REDIS_URL: each host must look like host, host:port or [ipv6]:port');
  }
  return { host, port };
}

function parseDb(path: string | undefined, kind: RedisTarget['kind']): number {
  if (!path) return 0;
  if (!/^\d{1,9}$/.test(path)) throw new Error('REDIS_URL: what follows the host must be a database number');
  if (kind === 'cluster' && Number(path) !== 0) throw new Error('REDIS_URL: a cluster has no database but 0');
  return Number(path);
}

function parseMaster(rest: string | undefined, kind: RedisTarget['kind']): string {
  const name = rest?.startsWith('#') === true ? decodePart(rest.slice(1)) : '';
  if (kind === 'sentinel' && !name) {
    throw new Error('REDIS_URL: a sentinel URL ends with #name-of-the-master');
  }
  if (rest && kind !== 'sentinel') throw new Error('REDIS_URL takes no ?query and no #fragment here');
  return name;
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new Error('REDIS_URL: user, password and master name must be percent-encoded', { cause: error });
  }
}
