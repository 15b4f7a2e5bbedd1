import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { MISSED_AFTER_INTERVALS } from '../core/agent-state.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { Hearing } from './hearing.js';
import { RegistryEvents } from './registry.events.js';
import { RegistryStore } from './registry.store.js';
import { Transitions } from './transitions.js';

const PURGE_EVERY_MS = 3_600_000;

/**
 * Judges the silent: overdue heartbeats make suspicious, ended leases make offline. Each replica sweeps; the
 * statements let each agent be judged once. A replica that was itself away judges nobody for one full lease.
 */
@Injectable()
export class AgentSweep implements OnApplicationBootstrap {
  private readonly ticker: Ticker;
  private purgedAt = performance.now();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly store: RegistryStore,
    private readonly transitions: Transitions,
    private readonly events: RegistryEvents,
    private readonly hearing: Hearing,
    shutdown: Shutdown,
  ) {
    this.ticker = new Ticker('agent sweep', config.sweepIntervalMs, () => this.sweep());
    shutdown.on('intake', 'agent sweep', () => this.ticker.stop());
  }

  onApplicationBootstrap(): void {
    this.ticker.start();
  }

  private async sweep(): Promise<void> {
    const trustedMs = this.hearing.unbrokenMs();
    try {
      const suspected = await this.store.suspectSilent(trustedMs, MISSED_AFTER_INTERVALS);
      const ended = await this.store.expireLeases(trustedMs);
      this.transitions.tell(suspected);
      this.transitions.tell(ended);
      for (const row of ended) void this.events.lost({ namespace: row.namespace, agentId: row.agent_id });
      await this.purge();
    } catch (error) {
      this.hearing.broken();
      throw error;
    }
  }

  private async purge(): Promise<void> {
    if (performance.now() - this.purgedAt < PURGE_EVERY_MS) return;
    this.purgedAt = performance.now();
    await this.store.purge(this.config.agentRetentionDays);
  }
}
