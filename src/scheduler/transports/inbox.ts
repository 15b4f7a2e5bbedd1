import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { parseDeliveryId } from '../../core/task-state.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { COORDINATOR, type Coordinator } from '../../platform/coordination/coordinator.js';
import { Shutdown } from '../../platform/lifecycle/shutdown.js';
import { PlacementStore } from '../placement.store.js';
import { offerJson, type Offered } from './offered.js';
import { Sessions } from './sessions.js';

const CHANNEL = 'inbox';
const SINK_BATCH = 200;

interface Waiter {
  wake: () => void;
}

/**
 * Offers that wait for their agent to fetch them, by long poll or through a session on another replica. The
 * coordinator's list hands each out once; what it loses is given back to the lanes when the loss is noticed.
 */
@Injectable()
export class Inbox implements OnApplicationBootstrap {
  private readonly log = new Logger(Inbox.name);
  private readonly waiters = new Map<string, Set<Waiter>>();
  /** Offers placed by this replica, so that most need not be read back. Ordered by age. */
  private readonly recent = new Map<string, Offered>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly sessions: Sessions,
    private readonly store: PlacementStore,
    private readonly shutdown: Shutdown,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.coordinator.subscribe(CHANNEL, (message) => {
      for (const key of JSON.parse(message) as string[]) this.wake(key);
    });
    this.shutdown.on('intake', 'long polls', () => {
      for (const waiters of this.waiters.values()) for (const waiter of waiters) waiter.wake();
    });
  }

  /** Puts committed offers into their agents' inboxes and wakes whoever waits for them, on any replica. */
  async put(offered: readonly Offered[]): Promise<void> {
    this.dropOld();
    const byAgent = new Map<string, string[]>();
    for (const offer of offered) {
      this.recent.set(offer.deliveryId, offer);
      const ids = byAgent.get(offer.agentKey);
      if (ids === undefined) byAgent.set(offer.agentKey, [offer.deliveryId]);
      else ids.push(offer.deliveryId);
    }
    await Promise.all(
      [...byAgent].map(async ([key, ids]) => {
        const taken = await this.coordinator.inboxPush(key, ids, this.config.inboxLimit);
        if (taken < ids.length)
          this.log.warn({
            msg: 'an inbox is full; its offers will time out',
            agent: key,
            lost: ids.length - taken,
          });
      }),
    );
    await this.coordinator.publish(CHANNEL, JSON.stringify([...byAgent.keys()]));
  }

  /**
   * Up to `max` offers for the agent, as JSON texts; waits up to `waitMs` for the first. Offers that were
   * made under another lease, or are closed meanwhile, are left out.
   */
  async claim(
    agentKey: string,
    leaseId: string,
    max: number,
    waitMs: number,
    gone?: AbortSignal,
  ): Promise<string[]> {
    const until = performance.now() + waitMs;
    for (;;) {
      const waiter = this.wait(agentKey, until - performance.now(), gone);
      const ids = await this.coordinator.inboxPop(agentKey, max);
      const offers = ids.length === 0 ? [] : await this.resolve(ids, leaseId);
      const over = performance.now() >= until || this.shutdown.stopping || gone?.aborted === true;
      if (offers.length > 0 || over) {
        waiter.cancel();
        return offers;
      }
      await waiter.woken;
    }
  }

  /** Sends what waits in the inbox through the agent's session here, if it has one. */
  async drainToSession(agentKey: string): Promise<void> {
    for (;;) {
      const sink = this.sessions.get(agentKey);
      if (sink === undefined) return;
      const ids = await this.coordinator.inboxPop(agentKey, SINK_BATCH);
      if (ids.length === 0) return;
      const offers = await this.resolve(ids, sink.leaseId);
      if (offers.length > 0) sink.offer(offers);
    }
  }

  /** A delivery is over before its ACK: nobody needs its offer any more, and it takes no room in the inbox. */
  withdraw(agentKey: string, deliveryId: string): void {
    this.recent.delete(deliveryId);
    this.coordinator.inboxRemove(agentKey, [deliveryId]).catch((err: unknown) => {
      this.log.debug({
        msg: 'an offer was not withdrawn; its ACK will be refused',
        delivery_id: deliveryId,
        err,
      });
    });
  }

  private wake(agentKey: string): void {
    const waiters = this.waiters.get(agentKey);
    if (waiters !== undefined) for (const waiter of waiters) waiter.wake();
    else if (this.sessions.get(agentKey) !== undefined)
      this.drainToSession(agentKey).catch((err: unknown) => {
        this.log.warn({ msg: 'an inbox could not be emptied into its session', agent: agentKey, err });
      });
  }

  /** Begins to listen before the inbox is looked into, so that nothing slips in between. */
  private wait(
    agentKey: string,
    ms: number,
    gone?: AbortSignal,
  ): { woken: Promise<void>; cancel: () => void } {
    let cancel = (): void => undefined;
    const woken = new Promise<void>((resolve) => {
      const waiters = this.waiters.get(agentKey) ?? new Set<Waiter>();
      this.waiters.set(agentKey, waiters);
      const done = (): void => {
        clearTimeout(timer);
        gone?.removeEventListener('abort', done);
        waiters.delete(waiter);
        if (waiters.size === 0 && this.waiters.get(agentKey) === waiters) this.waiters.delete(agentKey);
        resolve();
      };
      const waiter: Waiter = { wake: done };
      const timer = setTimeout(done, Math.max(0, ms));
      gone?.addEventListener('abort', done);
      waiters.add(waiter);
      cancel = done;
    });
    return { woken, cancel };
  }

  private async resolve(ids: readonly string[], leaseId: string): Promise<string[]> {
    const offers: string[] = [];
    const unknown: string[] = [];
    for (const id of ids) {
      const offer = this.recent.get(id);
      if (offer === undefined) unknown.push(id);
      else if (offer.leaseId === leaseId) offers.push(offerJson(offer.frame));
      this.recent.delete(id);
    }
    if (unknown.length > 0)
      for (const offer of await this.store.openOffers(unknown.map(parseDeliveryId)))
        if (offer.lease_id === leaseId) offers.push(offerJson(offer));
    return offers;
  }

  private dropOld(): void {
    const now = Date.now();
    for (const [id, offer] of this.recent) {
      if (offer.ackDeadline.getTime() > now) return;
      this.recent.delete(id);
    }
  }
}
