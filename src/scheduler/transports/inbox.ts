import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { parseDeliveryId } from '../../core/task-state.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import type { Caller } from '../../platform/http/gone.js';
import { COORDINATOR, type Coordinator } from '../../platform/coordination/coordinator.js';
import { Shutdown } from '../../platform/lifecycle/shutdown.js';
import { Ticker } from '../../platform/lifecycle/ticker.js';
import { ReachTable } from '../../registry/reach-table.js';
import { type OfferedTask, PlacementStore } from '../placement.store.js';
import { OfferWriter } from './offer-writer.js';
import { isLapsed, type Offered } from './offered.js';
import { Poll } from './poll.js';
import { Sessions } from './sessions.js';

const CHANNEL = 'inbox';
const SINK_BATCH = 200;
/** A waiting poll looks into the list this often by itself, in case news was lost: well within an ACK timeout. */
const LOOK_AGAIN_MS = 2000;
/** Beyond this many agents it is cheaper to forget what is known of their lists than to keep it. */
const MOST_REMEMBERED = 100_000;
const RETRY_MS = 250;
const RECHECK_MS = 5000;

/** What another replica put: [agent key, how many offers]. */
interface News {
  from: string;
  put: [string, number][];
}

/**
 * Offers that wait for their agent to fetch them. A poll that waits on this replica is handed offers directly;
 * for polls and sessions elsewhere they lie in the coordinator's list, which hands each out once. What the
 * coordinator loses is given back to the lanes when the loss is noticed.
 */
@Injectable()
export class Inbox implements OnApplicationBootstrap {
  private readonly log = new Logger(Inbox.name);
  private readonly polls = new Map<string, Set<Poll>>();
  /** Offers placed by this replica, so that most need not be read back. Ordered by age. */
  private readonly recent = new Map<string, Offered>();
  /** Agents whose list held nothing when it was last looked into, and of which no news came since. */
  private readonly empty = new Set<string>();
  /** Agents whose inbox is still to be emptied into their session. */
  private readonly undrained = new Set<string>();
  private readonly retry = new Ticker('inbox retry', RECHECK_MS, async () => {
    if (this.empty.size > MOST_REMEMBERED) this.empty.clear();
    await Promise.all([...this.undrained].map((key) => this.drainToSession(key)));
  });

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly sessions: Sessions,
    private readonly store: PlacementStore,
    private readonly table: ReachTable,
    private readonly writer: OfferWriter,
    private readonly shutdown: Shutdown,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.coordinator.subscribe(CHANNEL, (message) => {
      const news = JSON.parse(message) as News;
      if (news.from !== this.config.replicaId) for (const [key, count] of news.put) this.wake(key, count);
    });
    this.coordinator.onLost(() => this.lookAgain());
    this.retry.start();
    this.shutdown.on('drain', 'inbox retry', () => this.retry.stop());
    this.shutdown.on('intake', 'long polls', () => {
      for (const polls of this.polls.values()) for (const poll of [...polls]) poll.end();
    });
  }

  /** Hands committed offers to polls that wait here, and puts the rest where any replica finds them. */
  async put(offered: readonly Offered[]): Promise<void> {
    this.dropOld();
    const rest = new Map<string, Offered[]>();
    for (const offer of offered) {
      if (this.handOver(offer)) continue;
      const group = rest.get(offer.agentKey);
      if (group === undefined) rest.set(offer.agentKey, [offer]);
      else group.push(offer);
    }
    if (rest.size === 0) return;
    const put = await Promise.all(
      [...rest].map(async ([key, offers]): Promise<[string, number]> => {
        for (const offer of offers) this.recent.set(offer.deliveryId, offer);
        const ids = offers.map((o) => o.deliveryId);
        // An offer has its slot already, so what an agent may hold at a time finds room here too.
        const room = Math.max(this.config.inboxLimit, ...offers.map((o) => o.slots));
        const taken = await this.coordinator.inboxPush(key, ids, room);
        if (taken < ids.length)
          this.log.warn({
            msg: 'an inbox is full; its offers will time out',
            agent: key,
            lost: ids.length - taken,
          });
        return [key, taken];
      }),
    );
    for (const [key, count] of put) this.wake(key, count);
    const news: News = { from: this.config.replicaId, put };
    await this.coordinator.publish(CHANNEL, JSON.stringify(news));
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
    caller?: Caller,
  ): Promise<string[]> {
    const until = performance.now() + waitMs;
    for (;;) {
      // It listens before the list is looked into, so that nothing slips in between.
      const poll = new Poll(this.polls, agentKey, leaseId, max, caller);
      let ids: string[] = [];
      let found: string[] = [];
      try {
        ids = await this.look(agentKey, max);
        if (ids.length > 0) found = await this.resolve(agentKey, ids, leaseId);
        if (found.length === 0 && !this.shutdown.stopping)
          await this.waitFor(poll, until - performance.now());
      } catch (error) {
        poll.end();
        await this.giveBack(poll, agentKey, ids);
        throw error;
      }
      poll.end();
      if (caller?.gone === true) {
        await this.giveBack(poll, agentKey, ids);
        return [];
      }
      // What this poll has no use for belongs to the next one.
      if (poll.woken && found.length > 0) this.wake(agentKey, 1);
      const extra = poll.handed.splice(max - found.length);
      if (extra.length > 0) await this.put(extra);
      const handed = poll.handed.filter((o) => !isLapsed(o.frame));
      const frames = handed.map((o) => o.frame);
      const offers = [...found, ...(await this.writer.write(agentKey, frames))];
      if (offers.length > 0 || performance.now() >= until || this.shutdown.stopping) return offers;
    }
  }

  /** Takes from the list, unless it is known to be empty: most polls are handed their offers directly. */
  private async look(agentKey: string, max: number): Promise<string[]> {
    if (this.empty.has(agentKey)) return [];
    // Before the answer, so that news which comes meanwhile is not forgotten.
    this.empty.add(agentKey);
    let ids: string[] | undefined;
    try {
      ids = await this.coordinator.inboxPop(agentKey, max);
      return ids;
    } finally {
      if (ids?.length !== 0) this.empty.delete(agentKey);
    }
  }

  /** Waits no longer than until the next look that does not trust news. */
  private async waitFor(poll: Poll, ms: number): Promise<void> {
    await poll.wait(Math.min(ms, LOOK_AGAIN_MS));
    if (poll.handed.length === 0 && !poll.woken) this.empty.delete(poll.agentKey);
  }

  /** The caller gets no answer: what it would have got goes to whoever fetches next. */
  private async giveBack(poll: Poll, agentKey: string, popped: readonly string[]): Promise<void> {
    if (popped.length > 0) await this.coordinator.inboxPush(agentKey, popped, this.config.inboxLimit);
    if (poll.handed.length > 0) await this.put(poll.handed);
    if (poll.woken || popped.length > 0) this.wake(agentKey, Math.max(1, popped.length));
  }

  /** Gives the offer to a poll that waits here, if one does. */
  private handOver(offer: Offered): boolean {
    for (const poll of this.polls.get(offer.agentKey) ?? []) if (poll.take(offer)) return true;
    return false;
  }

  /** Sends what waits in the inbox through the agent's session here, if it has one; tries again until it can. */
  async drainToSession(agentKey: string): Promise<void> {
    this.undrained.delete(agentKey);
    let ids: string[] = [];
    try {
      for (let sink = this.sessions.get(agentKey); sink !== undefined; sink = this.sessions.get(agentKey)) {
        ids = await this.coordinator.inboxPop(agentKey, SINK_BATCH);
        if (ids.length === 0) return;
        const offers = await this.resolve(agentKey, ids, sink.leaseId);
        if (offers.length > 0) sink.offer(offers);
        ids = [];
      }
    } catch (err) {
      this.log.debug({ msg: 'an inbox could not be emptied into its session yet', agent: agentKey, err });
      if (ids.length > 0)
        await this.coordinator.inboxPush(agentKey, ids, this.config.inboxLimit).catch(() => 0);
      this.undrained.add(agentKey);
      this.retry.within(RETRY_MS);
    }
  }

  /** News may have been missed: everybody who waits looks for himself. */
  private lookAgain(): void {
    this.empty.clear();
    for (const polls of this.polls.values()) for (const poll of [...polls]) poll.wake();
    for (const key of this.sessions.keys()) this.undrained.add(key);
    this.retry.soon();
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

  /** Lets as many polls look into the list as there is something for, or empties it into the agent's session. */
  private wake(agentKey: string, count: number): void {
    this.empty.delete(agentKey);
    let left = count;
    for (const poll of [...(this.polls.get(agentKey) ?? [])]) {
      if (left <= 0) return;
      if (poll.wake()) left -= poll.max;
    }
    if (left > 0 && this.sessions.get(agentKey) !== undefined) void this.drainToSession(agentKey);
  }

  private async resolve(agentKey: string, ids: readonly string[], leaseId: string): Promise<string[]> {
    const frames: OfferedTask[] = [];
    const unknown: string[] = [];
    for (const id of ids) {
      const offer = this.recent.get(id);
      if (offer === undefined) unknown.push(id);
      else if (offer.leaseId === leaseId && !isLapsed(offer.frame)) frames.push(offer.frame);
      this.recent.delete(id);
    }
    if (unknown.length > 0)
      for (const offer of await this.store.openOffers(unknown.map(parseDeliveryId)))
        if (offer.lease_id === leaseId)
          frames.push({ ...offer, capability: this.table.nameFor(agentKey, offer.capability) });
    return this.writer.write(agentKey, frames);
  }

  private dropOld(): void {
    const now = performance.now();
    for (const [id, offer] of this.recent) {
      if (offer.ackUntil > now) return;
      this.recent.delete(id);
    }
  }
}
