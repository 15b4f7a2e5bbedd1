import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { laneLabel, type Requirement, requirementOf } from '../core/lane.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { Aliases } from '../registry/aliases.js';
import { Moves } from './moves.js';
import { SweepStore } from './sweep.store.js';

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
    private readonly store: SweepStore,
    private readonly aliases: Aliases,
    private readonly moves: Moves,
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
      const moved = meant === undefined ? 0 : await this.moves.move(lane, meant);
      if (meant === undefined || moved === 0) continue;
      const names = `${laneLabel(requirement)} go on as ${laneLabel(meant)}`;
      this.log.log({ msg: `${moved} tasks for ${names}`, namespace: meant.namespace, moved });
    }
  }

  /** The same wish without aliases; undefined where there are none in it. */
  private meantBy(requirement: Requirement): Requirement | undefined {
    const { namespace, capabilities } = requirement;
    if (!this.aliases.among(requirement)) return undefined;
    const resolved = capabilities.map((need) => ({
      ...need,
      name: this.aliases.resolve(namespace, need.name),
    }));
    return { ...requirement, capabilities: resolved };
  }
}
