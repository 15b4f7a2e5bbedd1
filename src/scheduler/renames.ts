import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { laneLabel, laneOf, type Requirement, requirementOf } from '../core/lane.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import { Aliases } from '../registry/aliases.js';
import { Depths } from './depths.js';
import { Orders } from './orders.js';
import { SweepStore } from './sweep.store.js';

const RENAME = loadSql(import.meta.url, 'sql/rename.sql');
const BATCH = 500;

/**
 * Tasks that were taken before their name became an alias go on under the capability, also those that come to wait only later
 * (a delay, a retry). Each replica looks; the update of a task's row decides who moves it.
 */
@Injectable()
export class Renames implements OnApplicationBootstrap {
  private readonly log = new Logger(Renames.name);
  private readonly ticker: Ticker;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly sql: Sql,
    private readonly store: SweepStore,
    private readonly aliases: Aliases,
    private readonly depths: Depths,
    private readonly orders: Orders,
    shutdown: Shutdown,
  ) {
    this.ticker = new Ticker('renames', config.sweepIntervalMs, () => this.sweep());
    shutdown.on('intake', 'renames', () => this.ticker.stop());
  }

  onApplicationBootstrap(): void {
    this.ticker.start();
  }

  private async sweep(): Promise<void> {
    if (!this.aliases.any) return;
    for (const lane of await this.store.backlog()) {
      const requirement = requirementOf(lane);
      const meant = this.meantBy(requirement);
      if (meant !== undefined) await this.move(lane, meant);
    }
  }

  /** The same wish without aliases; undefined where there are none in it. */
  private meantBy(requirement: Requirement): Requirement | undefined {
    const { namespace, capabilities } = requirement;
    if (!capabilities.some((need) => this.aliases.isAlias(namespace, need.name))) return undefined;
    const resolved = capabilities.map((need) => ({
      ...need,
      name: this.aliases.resolve(namespace, need.name),
    }));
    return { ...requirement, capabilities: resolved };
  }

  private async move(lane: string, meant: Requirement): Promise<void> {
    const [target, label] = [laneOf(meant), laneLabel(meant)];
    const moved = (await this.sql.run('rename', RENAME, [lane, target, label, BATCH])).rowCount ?? 0;
    if (moved === 0) return;
    this.depths.add(lane, -moved);
    this.depths.add(target, moved);
    this.orders.place(target);
    const old = laneLabel(requirementOf(lane));
    this.log.log({ msg: `${moved} tasks for ${old} go on as ${label}`, namespace: meant.namespace, moved });
  }
}
