import { type Client } from './client.js';
import { TaskContext } from './context.js';
import { type Handlers } from './handlers.js';
import { RecentMap } from './memory.js';
import { type Once, type Permit } from './once.js';
import { type Outbox } from './outbox.js';
import { failureOf } from './outcome.js';
import { refusalOf, Reports } from './reports.js';
import { type Offer, type StaleDelivery } from './wire.js';
import { type Work } from './work.js';

/*
 * Design note. A delivery goes waiting -> acking -> running -> reporting and then leaves the map; only the
 * answer `execute: true` leads to running. At most `maxConcurrency` are past waiting at once; more offers than
 * that wait unacknowledged, and the centre hands them to somebody else if it takes too long.
 *
 * Nothing runs twice here: a delivery that was seen is not started again, and the store of handled tasks (dedup.ts)
 * is asked before each handler: a task that was completed although the centre did not count the result (it came too
 * late, or from a lease that had ended) is answered with the kept outcome when it comes back.
 */

export interface DeliveryDeps {
  handlers: Handlers;
  outbox: Outbox;
  client: Client;
  /** Knows which tasks were handled. */
  once: Once;
  maxConcurrency: number;
  /** Longest wait of a handler for the answer to its progress. */
  answerTimeoutMs: number;
  /** What the centre may call this agent when a task is addressed to it. */
  addressedAs: readonly string[];
  slotFreed: () => void;
  /** A result was refused in a definite way, or an ACK was. */
  dropped: (deliveryId: string, code: string) => void;
  /** An offer came that was not seen before. */
  received: (offer: Offer) => void;
}

/** As many as the wire takes; what is not named keeps running, and learns of its end when it reports. */
const MAX_RUNNING = 10_000;
const SEEN_DELIVERIES = 10_000;
const SMOOTHING = 0.1;

export class Deliveries {
  private readonly works = new Map<string, Work>();
  private readonly waiting: Work[] = [];
  private readonly seen = new RecentMap<string, true>(SEEN_DELIVERIES);
  private readonly reports: Reports;
  private busy = 0;
  private taking = true;
  private averageMs: number | undefined;
  private idleWaiters: (() => void)[] = [];

  constructor(private readonly deps: DeliveryDeps) {
    this.reports = new Reports({
      outbox: deps.outbox,
      once: deps.once,
      answerTimeoutMs: deps.answerTimeoutMs,
      finished: (work) => this.works.delete(work.offer.delivery_id),
      lost: (work, code) => this.abort(work, code),
      dropped: deps.dropped,
    });
  }

  /** Handlers under way or about to be. */
  get inFlight(): number {
    return this.busy;
  }

  get queued(): number {
    return this.waiting.length;
  }

  /** Smoothed run time of the handlers, in milliseconds. */
  get averageTaskMs(): number | undefined {
    return this.averageMs;
  }

  get freeSlots(): number {
    return this.taking ? Math.max(0, this.deps.maxConcurrency - this.busy - this.waiting.length) : 0;
  }

  /** Deliveries that are this agent's as far as it knows: they run, or their result is not answered yet. */
  running(): string[] {
    const ids: string[] = [];
    for (const work of this.works.values()) {
      if (!work.stale && (work.phase === 'running' || work.phase === 'reporting'))
        ids.push(work.offer.delivery_id);
    }
    return ids.slice(0, MAX_RUNNING);
  }

  /** Offers of the centre: acknowledged at once as far as there are free slots. */
  offered(offers: readonly Offer[]): void {
    if (!this.taking) return;
    for (const offer of offers) {
      if (this.seen.has(offer.delivery_id)) continue;
      this.seen.set(offer.delivery_id, true);
      this.deps.received(offer);
      this.waiting.push(this.newWork(offer, false));
    }
    this.acknowledgeNext();
  }

  /**
   * A delivery that was pushed: taking it is its ACK.
   * @returns whether it is (or was) taken, or why not
   */
  pushed(offer: Offer): 'taken' | 'busy' | 'draining' {
    if (this.seen.has(offer.delivery_id)) return 'taken';
    if (!this.taking) return 'draining';
    if (this.freeSlots <= 0) return 'busy';
    this.seen.set(offer.delivery_id, true);
    this.deps.received(offer);
    const work = this.newWork(offer, true);
    this.busy += 1;
    this.start(work, new Date(Date.now() + offer.execution_timeout_ms));
    return 'taken';
  }

  /** A link is there: what running work had to say in the meantime is said now. */
  connected(): void {
    this.reports.sendUnsent();
  }

  /** These deliveries are no longer the agent's. */
  stale(deliveries: readonly StaleDelivery[]): void {
    for (const { delivery_id, reason } of deliveries) this.abort(this.works.get(delivery_id), reason);
  }

  /** Aborts everything that runs and forgets what was not acknowledged. */
  abortAll(code: string): void {
    this.forgetWaiting();
    for (const work of this.works.values()) this.abort(work, code);
  }

  /** From now on nothing new is acknowledged. */
  stopTaking(): void {
    this.taking = false;
    this.forgetWaiting();
  }

  /** Resolves when no handler runs any more. */
  idle(): Promise<void> {
    if (this.busy === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  private newWork(offer: Offer, pushed: boolean): Work {
    const work: Work = {
      offer,
      pushed,
      phase: 'waiting',
      context: undefined,
      stale: false,
      begun: false,
      startedAt: 0,
    };
    this.works.set(offer.delivery_id, work);
    return work;
  }

  private forgetWaiting(): void {
    for (const work of this.waiting.splice(0)) {
      this.works.delete(work.offer.delivery_id);
      // It never began, so it may come again, for example under the next lease.
      this.seen.delete(work.offer.delivery_id);
    }
  }

  private abort(work: Work | undefined, code: string): void {
    if (!work) return;
    if (work.phase === 'waiting') {
      this.waiting.splice(this.waiting.indexOf(work), 1);
      this.works.delete(work.offer.delivery_id);
      return;
    }
    // A finished result still gets its definite answer; only running work is told to stop.
    if (work.phase === 'reporting') return;
    work.stale = true;
    work.context?.abort(code);
  }

  private acknowledgeNext(): void {
    while (this.busy < this.deps.maxConcurrency) {
      const work = this.waiting.shift();
      if (!work) return;
      this.busy += 1;
      this.acknowledge(work);
    }
  }

  private acknowledge(work: Work): void {
    work.phase = 'acking';
    const { delivery_id } = work.offer;
    this.deps.outbox.push('ack', JSON.stringify({ op: 'ack', delivery_id }), (settlement) => {
      if (settlement.kind === 'answer' && settlement.answer.execute === true && !work.stale) {
        return this.start(
          work,
          new Date(settlement.answer.deadline ?? Date.now() + work.offer.execution_timeout_ms),
        );
      }
      this.works.delete(delivery_id);
      this.release();
      const code = refusalOf(settlement);
      if (code !== undefined) this.deps.dropped(delivery_id, code);
    });
  }

  private start(work: Work, deadline: Date): void {
    work.phase = 'running';
    const permit = this.deps.once.permit(work);
    if (permit instanceof Promise) void permit.then((late) => this.permitted(work, deadline, late));
    else this.permitted(work, deadline, permit);
  }

  private permitted(work: Work, deadline: Date, permit: Permit): void {
    if (permit.kind !== 'run') {
      if (permit.kind === 'done') this.reports.again(work, permit.result);
      else if (permit.kind === 'refused') this.reports.failure(work, permit.failure);
      else this.notOurs(work);
      return this.release();
    }
    work.startedAt = performance.now();
    work.begun = true;
    const handler = this.deps.handlers.find(work.offer, this.deps.addressedAs);
    if (!handler) {
      const message = `this agent has no handler for "${work.offer.capability}"`;
      this.reports.failure(work, { code: 'AGENT_REFUSED', message });
      return this.release();
    }
    const { offer } = work;
    const context = new TaskContext(offer, deadline, this.deps.client, (p) => this.reports.progress(work, p));
    work.context = context;
    const task = {
      taskId: offer.task_id,
      deliveryId: offer.delivery_id,
      capability: offer.capability,
      payload: offer.payload,
      attempt: offer.attempt,
      parentTaskId: offer.parent_task_id,
    };
    void this.execute(work, async () => handler(task, context));
  }

  private notOurs(work: Work): void {
    this.works.delete(work.offer.delivery_id);
    if (!work.stale) this.deps.dropped(work.offer.delivery_id, 'REACH_DELIVERY_SUPERSEDED');
  }

  private async execute(work: Work, run: () => Promise<unknown>): Promise<void> {
    const report = await run().then(
      (outputs) => () => this.reports.success(work, outputs),
      (error: unknown) => () => this.reports.failure(work, failureOf(error)),
    );
    // The slot is free before the report leaves, so that the next ACK goes with it in one frame.
    this.ended(work);
    report();
  }

  private ended(work: Work): void {
    const tookMs = performance.now() - work.startedAt;
    this.averageMs =
      this.averageMs === undefined ? tookMs : this.averageMs + SMOOTHING * (tookMs - this.averageMs);
    this.release();
  }

  private release(): void {
    this.busy -= 1;
    this.acknowledgeNext();
    if (this.busy === 0) for (const waiter of this.idleWaiters.splice(0)) waiter();
    this.deps.slotFreed();
  }
}
