import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig } from '../../src/platform/config/config.js';
import { ReachTable } from '../../src/registry/reach-table.js';
import { SchedulerMetrics } from '../../src/scheduler/scheduler-metrics.js';
import { Sessions } from '../../src/scheduler/transports/sessions.js';
import { testApp } from '../support/http-app.js';

/* Docker does not run here; what it would be told is checked as far as it can be without it. */

const root = join(import.meta.dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');

interface Service {
  image?: string;
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

  test('three agents run an example that the image has, with the token of the dispatchers', () => {
    const agents = Object.entries(services).filter(([name]) => name.startsWith('agent'));
    expect(agents).toHaveLength(3);
    for (const [name, { command, environment }] of agents) {
      const [program, file = ''] = command ?? [];
      expect(program).toBe('node');
      // Built from what the Dockerfile copies, to where it takes the build from; the manifest lies beside it.
      const example = /^dist\/(examples\/agents\/\w+)\.js$/.exec(file)?.[1];
      expect(existsSync(join(root, `${example}.ts`))).toBe(true);
      expect(existsSync(join(root, file))).toBe(true);
      expect(existsSync(join(root, `dist/${example}.yaml`))).toBe(true);
      expect(filled(environment)).toEqual({
        REACH_AGENT_ID: name,
        REACH_TOKEN: 'change-me-change-me',
        REACH_URL: expect.stringMatching(/^http:\/\/dispatcher-[12]:8080$/) as string,
      });
    }
  });

  test('every image but our own has its version, and nothing is started that nobody uses', () => {
    const images = Object.entries(services).map(([name, { image }]) => [name, image]);
    for (const [, image] of images) expect(image).toMatch(/:(local|v?\d+[\w.-]*)$/);
    const { datasources } = parse(text('deploy/grafana/provisioning/datasources/datasources.yml')) as {
      datasources: { type: string; url: string }[];
    };
    expect(datasources.map(({ url }) => new URL(url).hostname)).toEqual(['prometheus']);
    const observers = images.map(([name]) => name ?? '').filter((name) => services[name]?.profiles);
    expect(observers).toEqual(['prometheus', 'grafana']);
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

  test('has the build, the examples in it, and the SDK that they import', () => {
    expect(dockerfile).toMatch(/^COPY examples examples$[^]*^RUN npm run build$/m);
    expect(dockerfile).toMatch(/^COPY --from=build \/app\/dist dist$/m);
    expect(dockerfile).toMatch(/^COPY --from=build \/app\/sdk\/typescript\/dist sdk\/typescript\/dist$/m);
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

/** Name of each series that a server with some traffic exposes, and the names of its labels. */
async function exposedSeries(): Promise<Map<string, string[]>> {
  const { app, url, close } = await testApp({
    providers: [
      SchedulerMetrics,
      { provide: ReachTable, useValue: { all: () => [] } },
      { provide: Sessions, useValue: { size: 0 } },
    ],
  });
  try {
    const metrics = app.get(SchedulerMetrics);
    metrics.ended('a.b', 'failed', 'AGENT_ERROR');
    metrics.offered('a.b', 1, true);
    metrics.acknowledged(1);
    metrics.ran('a.b', 1);
    metrics.redispatched('ACK_TIMEOUT');
    metrics.late('complete');
    await fetch(`${url}/livez`);
    const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
    const series = lines.flatMap((line) => {
      const [, name, labels = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
      return name === undefined
        ? []
        : [[name, [...labels.matchAll(/(\w+)="/g)].map(([, l = '']) => l)] as const];
    });
    return new Map(series.map(([name, labels]) => [name, [...labels]]));
  } finally {
    await close();
  }
}

test('every panel of the dashboard shows series and labels that the server exposes', async () => {
  const series = await exposedSeries();
  const { panels } = JSON.parse(text('deploy/grafana/dashboards/agent-reach.json')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  for (const { title, targets } of panels) {
    for (const { expr } of targets) {
      const metric = /\b(?:reach|nodejs|process)_\w+/.exec(expr)?.[0] ?? 'none';
      expect([title, metric, series.has(metric)]).toEqual([title, metric, true]);
      for (const [, label = ''] of expr.matchAll(/by \((\w+)\)/g))
        expect(series.get(metric)).toContain(label);
    }
  }
});
