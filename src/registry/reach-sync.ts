import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '../platform/config/config.js';
import { COORDINATOR, type Coordinator } from '../platform/coordination/coordinator.js';
import { nestLog } from '../platform/embedded/log.js';
import { persist } from '../platform/postgres/patient-client.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import type { AgentRow } from './agent-row.js';
import { Aliases } from './aliases.js';
import { CatalogueStore } from './catalogue.store.js';
import { ReachTable, type ReachEntry } from './reach-table.js';
import { RegistryEvents } from './registry.events.js';
import { RegistryStore } from './registry.store.js';
import { Switches } from './switches.js';

const AGENTS_CHANNEL = 'agents';
const SWITCHES_CHANNEL = 'switches';
const DATE_FIELDS = [
  'lease_expires_at',
  'last_heartbeat_at',
  'state_since',
  'drain_until',
  'removed_at',
  'registered_at',
  'held_since',
] as const;

/** How long the first reading may be tried again while Postgres is restarted. */
const READ_WITHIN_MS = 120_000;

/**
 * Keeps the reach table and the capability switches of this replica equal to Postgres: news of each change
 * through the coordinator, and a full reconcile at start, after a loss of news, and every so often.
 */
@Injectable()
export class ReachSync implements OnApplicationBootstrap {
  private readonly log = new Logger(ReachSync.name);
  private readonly ticker: Ticker;

  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly store: RegistryStore,
    private readonly table: ReachTable,
    private readonly switches: Switches,
    private readonly aliases: Aliases,
    private readonly catalogue: CatalogueStore,
    private readonly events: RegistryEvents,
    shutdown: Shutdown,
  ) {
    this.ticker = new Ticker('reach reconcile', config.reconcileIntervalMs, () => this.reconcile());
    shutdown.on('drain', 'reach reconcile', () => this.ticker.stop());
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.coordinator.subscribe(AGENTS_CHANNEL, (message) => this.hear(message));
    await this.coordinator.subscribe(SWITCHES_CHANNEL, () => this.ticker.soon());
    this.coordinator.onLost(() => this.ticker.soon());
    const deadline = performance.now() + READ_WITHIN_MS;
    await persist('agents were being read', deadline, nestLog(ReachSync.name), () => this.reconcile());
    this.ticker.start();
  }

  /** Takes over rows that this replica wrote, and tells the others. */
  spread(rows: readonly AgentRow[]): void {
    if (rows.length === 0) return;
    for (const row of rows) this.take(row);
    this.coordinator.publish(AGENTS_CHANNEL, JSON.stringify(rows)).catch((err: unknown) => {
      this.log.debug({
        msg: 'news of agents could not be sent; the reconcile of the other replicas will tell',
        err,
      });
    });
  }

  /** A switch or an alias was written: read it here now, and have the others read it. */
  async spreadSwitches(): Promise<void> {
    await this.readSwitches();
    await this.readAliases();
    await this.coordinator.publish(SWITCHES_CHANNEL, '').catch(() => undefined);
  }

  /** Reads everything anew. */
  async reconcile(): Promise<void> {
    await this.readAliases();
    const before = this.table.revisions();
    const rows = await this.store.all();
    for (const entry of this.table.replaceAll(rows, before)) this.tell(entry);
    await this.readSwitches();
  }

  private async readSwitches(): Promise<void> {
    if (this.switches.replace(await this.store.switches())) this.events.emit('switched');
  }

  private async readAliases(): Promise<void> {
    if (!this.aliases.replace(await this.catalogue.aliases())) return;
    for (const entry of this.table.rename()) this.tell(entry);
  }

  private hear(message: string): void {
    const rows = JSON.parse(message) as AgentRow[];
    for (const row of rows) {
      const dated = row as unknown as Record<string, unknown>;
      for (const field of DATE_FIELDS)
        if (typeof dated[field] === 'string') dated[field] = new Date(dated[field]);
      this.take(row);
    }
  }

  /** Takes a row over that was read, or heard of, if it is newer than what is known. */
  take(row: AgentRow): void {
    const entry = this.table.apply(row);
    if (entry !== undefined) this.tell(entry);
  }

  private tell(entry: ReachEntry): void {
    this.events.emit('changed', entry);
  }
}
