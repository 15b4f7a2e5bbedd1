import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { Shutdown } from '../../platform/lifecycle/shutdown.js';
import { Ticker } from '../../platform/lifecycle/ticker.js';
import { Credentials } from '../../platform/outbound/credentials.js';
import { Metrics } from '../../platform/telemetry/metrics.js';
import { ReachTable } from '../reach-table.js';
import { Registry } from '../registry.js';
import { RegistryStore } from '../registry.store.js';
import { ConsulSource } from './consul-source.js';
import { NacosSource } from './nacos-source.js';
import type { RegistrySource } from './registry-source.js';
import { SourceSync } from './source-sync.js';

const MOST_MS = 1000;

/** Agents that other registries know: each source is followed by the one replica that looks after it. */
@Injectable()
export class Sources implements OnApplicationBootstrap {
  private readonly syncs: SourceSync[];
  private readonly ticker: Ticker;
  private isOwner: (source: string) => boolean = () => false;

  constructor(
    @Inject(CONFIG) config: Config,
    registry: Registry,
    store: RegistryStore,
    table: ReachTable,
    metrics: Metrics,
    shutdown: Shutdown,
  ) {
    const failures = metrics.counter('reach_source_failures_total', 'Reads of Consul or Nacos that failed', [
      'source',
    ]);
    this.syncs = sourcesOf(config).map(
      (source) =>
        new SourceSync(source, {
          config,
          registry,
          store,
          table,
          wake: () => this.ticker.soon(),
          failed: () => failures.inc({ source: source.name }),
        }),
    );
    metrics.gauge(
      'reach_source_up',
      '1 while this replica follows the source (Consul, Nacos) and it answers; one replica does',
      ['source'],
      (gauge) => this.syncs.forEach((s) => gauge.set({ source: s.source.name }, s.isUp ? 1 : 0)),
    );
    // Several times in a heartbeat interval, so that no lease is renewed late.
    const everyMs = Math.min(MOST_MS, config.heartbeatIntervalMs / 4, config.membershipIntervalMs);
    this.ticker = new Ticker('taking over agents', everyMs, () => this.round());
    shutdown.on('intake', 'registry sources', () => this.stop());
  }

  /** Says which replica looks after a source. */
  connect(isOwner: (source: string) => boolean): void {
    this.isOwner = isOwner;
  }

  onApplicationBootstrap(): void {
    if (this.syncs.length > 0) this.ticker.start();
  }

  private async round(): Promise<void> {
    for (const sync of this.syncs) await sync.follow(this.isOwner(sync.source.name));
    await Promise.all(this.syncs.map((sync) => sync.round()));
  }

  private async stop(): Promise<void> {
    await this.ticker.stop();
    await Promise.all(this.syncs.map((sync) => sync.follow(false)));
  }
}

/** The sources that the configuration names. */
function sourcesOf(config: Config): RegistrySource[] {
  const credentials = new Credentials(config.credentialsDir);
  const { consulUrl, nacosUrl } = config;
  return [
    ...(consulUrl === undefined ? [] : [new ConsulSource({ ...config, consulUrl }, credentials)]),
    ...(nacosUrl === undefined ? [] : [new NacosSource({ ...config, nacosUrl }, credentials)]),
  ];
}
