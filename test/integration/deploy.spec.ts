import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig } from '../../src/platform/config/config.js';

/* Docker does not run here; what it would be told is checked as far as it can be without it. */

const root = join(import.meta.dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');

interface Service {
  environment?: Record<string, string>;
  command?: string[];
  depends_on?: Record<string, unknown>;
  volumes?: string[];
  profiles?: string[];
}
const { services } = parse(text('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>;
};

/** `${NAME:-value}` as compose would fill it in. */
const filled = (environment: Record<string, string> = {}) =>
  Object.fromEntries(
    Object.entries(environment).map(([k, v]) => [k, v.replace(/\$\{\w+:-([^}]*)\}/g, '$1')]),
  );

describe('docker-compose.yml', () => {
  test('two dispatchers start with a configuration that the server takes', () => {
    const dispatchers = Object.keys(services).filter((name) => name.startsWith('dispatcher'));
    expect(dispatchers).toHaveLength(2);
    for (const name of dispatchers) {
      const config = loadConfig(filled(services[name]?.environment));
      expect(config.replicaId).toBe(name);
      expect(config.databaseUrl).toContain('@postgres:5432');
      expect(config.redisUrl).toContain('redis:6379');
    }
  });

  test('what a service waits for and mounts exists', () => {
    for (const service of Object.values(services)) {
      for (const other of Object.keys(service.depends_on ?? {})) expect(services).toHaveProperty(other);
      for (const volume of service.volumes ?? []) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('.')) expect(existsSync(join(root, source))).toBe(true);
      }
    }
  });

  test('three agents run an example that exists, with the token of the dispatchers', () => {
    const agents = Object.entries(services).filter(([name]) => name.startsWith('agent'));
    expect(agents).toHaveLength(3);
    for (const [name, { command, environment }] of agents) {
      expect(existsSync(join(root, command?.[1] ?? 'none'))).toBe(true);
      expect(filled(environment)).toMatchObject({ REACH_AGENT_ID: name, REACH_TOKEN: 'change-me-change-me' });
    }
  });
});

describe('Dockerfile', () => {
  const dockerfile = text('Dockerfile');

  test('sets only what the server knows', () => {
    const variables = [...dockerfile.matchAll(/(REACH_\w+)=(\S+)/g)].map(([, key = '', value = '']) => [
      key,
      value,
    ]);
    expect(variables.length).toBeGreaterThan(0);
    expect(() => loadConfig(Object.fromEntries(variables) as Record<string, string>)).not.toThrow();
  });

  test('runs node itself as PID 1, not as root', () => {
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toMatch(/^CMD \["node", .*"dist\/main\.js"\]$/m);
  });

  test('copies only what is there', () => {
    const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, list = '']) =>
      list.split(' ').slice(0, -1),
    );
    expect(copies.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

test('Prometheus scrapes the dispatchers of the compose file', () => {
  const { scrape_configs } = parse(text('deploy/prometheus/prometheus.yml')) as {
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  const hosts = scrape_configs
    .flatMap((job) => job.static_configs.flatMap(({ targets }) => targets))
    .map((t) => t.split(':')[0]);
  expect(hosts).toEqual(['dispatcher-1', 'dispatcher-2']);
});
