import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { Incident } from '../core/attribution.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { COORDINATOR, type Coordinator, IDLE_TTL_MS } from '../platform/coordination/coordinator.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { Registry } from '../registry/registry.js';
import { RegistryEvents } from '../registry/registry.events.js';
import { Closer } from './closer.js';
import { Depths } from './depths.js';
import { heldDelivery, openDelivery } from './held-delivery.js';
import { Lanes } from './lanes.js';
import { Orders } from './orders.js';
import { Slots } from './slots.js';
import { SweepStore, type OrphanRow } from './sweep.store.js';

const BATCH = 500;
const REBUILD_LOCK_MS = 2000;

/**
 * Finds from the ledger what news and queues may have lost: deliveries of agents that are gone, lanes with a
 * backlog and no order, slots and depths that drifted, inboxes that vanished with Redis.
 */
@Injectable()
export class Upkeep implements OnApplicationBootstrap {
  private readonly log = new Logger(Upkeep.name);
  private readonly sweep: Ticker;
  private readonly reconcile: Ticker;

  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly events: RegistryEvents,
    private readonly registry: Registry,
    private readonly store: SweepStore,
    private readonly closer: Closer,
    private readonly lanes: Lanes,
    private readonly orders: Orders,
    private readonly slots: Slots,
    private readonly depths: Depths,
    shutdown: Shutdown,
  ) {
    this.sweep = new Ticker('upkeep sweep', config.sweepIntervalMs, () => this.sweepOnce());
    this.reconcile = new Ticker('slot reconcile', config.reconcileIntervalMs, () => this.reconcileOnce());
    shutdown.on('intake', 'upkeep', () => Promise.all([this.sweep.stop(), this.reconcile.stop()]));
    shutdown.on('drain', 'placement', () => this.lanes.stop());
  }

  onApplicationBootstrap(): void {
    this.events.connect((agent) =>
      this.handOver(agent).catch((err: unknown) => {
        this.log.warn({ msg: 'the work of a lost agent was not handed over; the sweep will', ...agent, err });
      }),
    );
    const rebuild = (onlyIfNew: boolean): void => {
      this.rebuild(onlyIfNew).catch((err: unknown) => {
        this.log.warn({
          msg: 'the rebuild after a loss of shared state failed; deadlines will do its work',
          err,
        });
      });
    };
    this.coordinator.onLost(() => rebuild(false));
    rebuild(true);
    this.sweep.start();
    this.sweep.soon();
    this.reconcile.start();
  }

  private async sweepOnce(): Promise<void> {
    await this.handOver();
    for (const agent of await this.store.drainedAgents())
      await this.registry.finishRemoval(agent.namespace, agent.agent_id);
    const lanes = await this.store.backlog();
    // Not awaited: the pass of a busy lane goes on for as long as there is work, and this sweep must go round.
    this.orders.placeOverdue(lanes).catch((err: unknown) => {
      this.log.debug({ msg: 'orders that may be stuck were not cleared; the next sweep will try', err });
    });
  }

  private async reconcileOnce(): Promise<void> {
    await this.depths.measure();
    await this.slots.reconcile();
    await this.depths.reconcile();
  }

  /** Ends deliveries whose holder cannot finish them; of one agent, or of all. */
  private async handOver(agent?: { namespace: string; agentId: string }): Promise<void> {
    for (;;) {
      const rows = await this.store.orphans(BATCH, agent);
      const ended = await Promise.all(rows.map((row) => this.endOrphan(row)));
      if (rows.length < BATCH || !ended.includes(true)) return;
    }
  }

  private async endOrphan(row: OrphanRow): Promise<boolean> {
    const delivery = heldDelivery(row);
    if (delivery === undefined) return false;
    if (row.cause === 'leaving') return this.closer.release(delivery, 'DELIVERY_SUPERSEDED');
    return (await this.closer.fail(delivery, incidentOf(row.cause, row, delivery.agentId))) !== undefined;
  }

  /**
   * Shared state was lost. Offers that lay in inboxes go back to their lanes, uncharged; lanes are looked at.
   * @param onlyIfNew unless the coordinator knows the ledger: it does not in a new process of its own, or when
   * Redis was emptied while no replica looked
   */
  private async rebuild(onlyIfNew: boolean): Promise<void> {
    const known = await this.coordinator.setIfAbsent('ledger', 'known', IDLE_TTL_MS);
    if (onlyIfNew && known !== null) return;
    const first = await this.coordinator.setIfAbsent('rebuild', 'under way', REBUILD_LOCK_MS);
    if (first === null) {
      this.log.warn('shared state was lost, or never there; rebuilding it from the ledger');
      for (;;) {
        const rows = await this.store.unfetched(BATCH);
        const released = await Promise.all(
          rows.map((row) => this.closer.release(openDelivery(row, 'offered'), 'DELIVERY_SUPERSEDED')),
        );
        if (rows.length < BATCH || !released.includes(true)) break;
      }
    }
    this.sweep.soon();
  }
}

function incidentOf(
  cause: Exclude<OrphanRow['cause'], 'leaving'>,
  row: OrphanRow,
  agentId: string,
): Incident {
  const running = row.state === 'running';
  switch (cause) {
    case 'lease_expired':
      return {
        kind: 'lease_expired',
        agentId,
        running,
        lastHeartbeatAt: row.last_heartbeat_at?.toISOString() ?? '(unknown)',
      };
    case 'restarted':
      return {
        kind: 'restarted',
        agentId,
        running,
        newLeaseAt: row.registered_at?.toISOString() ?? '(unknown)',
      };
    case 'drained':
      return { kind: 'drained', agentId, running };
  }
}
