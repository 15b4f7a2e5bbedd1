import { type Progress, TaskContext } from './context.js';
import { type Client } from './client.js';
import { type Handlers } from './handlers.js';
import { RecentMap } from './memory.js';
import { type OperationKind, type Outbox, type Settlement } from './outbox.js';
import { completeOperation, cut, failOperation, failureOf, type Failure } from './outcome.js';
import { type Offer, type StaleDelivery } from './wire.js';

/*
 * Design note. A delivery goes waiting -> acking -> running -> reporting and then leaves the map; only the
 * answer `execute: true` leads to running. At most `maxConcurrency` are past waiting at once; more offers than
 * that wait unacknowledged, and the centre hands them to somebody else if it takes too long.
 *
 * Nothing runs twice here: a delivery that was seen is not started again, and a task that was completed here
 * although the centre did not count the result (it came too late, or from a lease that had ended) is answered
 * with the kept outcome when it comes back.
 */

type Phase = 'waiting' | 'acking' | 'running' | 'reporting';

interface Work {
  readonly offer: Offer;
  phase: Phase;
  context: TaskContext | undefined;
  /** The result counts no longer. */
  stale: boolean;
  startedAt: number;
}

export interface DeliveryDeps {
  handlers: Handlers;
  outbox: Outbox;
  client: Client;
  maxConcurrency: number;
  /** What the centre may call this agent when a task is addressed to it. */
  addressedAs: readonly string[];
  slotFreed: () => void;
  /** A result was refused in a definite way, or an ACK was. */
  dropped: (deliveryId: string, code: string) => void;
}

const SEEN_DELIVERIES = 10_000;
const KEPT_OUTCOMES = 200;
/** Larger results are not kept: running the task again is cheaper than the memory. */
const MAX_KEPT_CHARACTERS = 256 * 1024;
const MAX_NOTE = 2000;
const SMOOTHING = 0.1;

export class Deliveries {
  private readonly works = new Map<string, Work>();
  private readonly waiting: Work[] = [];
  private readonly seen = new RecentMap<string, true>(SEEN_DELIVERIES);
  /** Serialised outputs of tasks completed here whose result the centre did not count. */
  private readonly kept = new RecentMap<string, string>(KEPT_OUTCOMES);
  private busy = 0;
  private taking = true;
  private averageMs: number | undefined;
  private idleWaiters: (() => void)[] = [];

  constructor(private readonly deps: DeliveryDeps) {}

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
    return ids;
  }

  /** Offers of the centre: acknowledged at once as far as there are free slots. */
  offered(offers: readonly Offer[]): void {
    if (!this.taking) return;
    for (const offer of offers) {
      if (this.seen.has(offer.delivery_id)) continue;
      this.seen.set(offer.delivery_id, true);
      this.waiting.push(this.newWork(offer));
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
    const work = this.newWork(offer);
    this.busy += 1;
    this.start(work, new Date(Date.now() + offer.execution_timeout_ms));
    return 'taken';
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

  private newWork(offer: Offer): Work {
    const work: Work = { offer, phase: 'waiting', context: undefined, stale: false, startedAt: 0 };
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
    this.say('ack', work, { op: 'ack', delivery_id: work.offer.delivery_id }, (settlement) => {
      if (settlement.kind === 'answer' && settlement.answer.execute === true && !work.stale) {
        return this.start(
          work,
          new Date(settlement.answer.deadline ?? Date.now() + work.offer.execution_timeout_ms),
        );
      }
      const code = reasonOf(settlement);
      if (code) this.deps.dropped(work.offer.delivery_id, code);
      this.works.delete(work.offer.delivery_id);
      this.release();
    });
  }

  private start(work: Work, deadline: Date): void {
    work.phase = 'running';
    work.startedAt = performance.now();
    const kept = this.kept.get(work.offer.task_id);
    if (kept !== undefined) return this.reportKept(work, kept);
    const handler = this.deps.handlers.find(work.offer, this.deps.addressedAs);
    if (!handler) {
      const message = `this agent has no handler for "${work.offer.capability}"`;
      this.release();
      return this.reportFailure(work, { code: 'AGENT_REFUSED', message });
    }
    const { offer } = work;
    const context = new TaskContext(offer, deadline, this.deps.client, (p) => this.progress(work, p));
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

  private async execute(work: Work, run: () => Promise<unknown>): Promise<void> {
    try {
      const outputs = await run();
      this.ended(work);
      this.reportSuccess(work, outputs);
    } catch (error) {
      this.ended(work);
      if (work.stale) this.works.delete(work.offer.delivery_id);
      else this.reportFailure(work, failureOf(error));
    }
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

  private reportSuccess(work: Work, outputs: unknown): void {
    const { delivery_id, task_id } = work.offer;
    let json: string;
    try {
      json = JSON.stringify(outputs ?? null) ?? 'null';
    } catch (error) {
      const message = `the handler returned what JSON cannot express: ${String(error)}`;
      if (work.stale) this.works.delete(delivery_id);
      else this.reportFailure(work, { code: 'AGENT_ERROR', message, retryable: false });
      return;
    }
    const result = completeOperation(json, work.context?.meta);
    if (work.stale) {
      // Done all the same: should the task come back to this process, it need not run again.
      this.keep(task_id, result);
      this.works.delete(delivery_id);
      return;
    }
    this.report(work, result);
  }

  private keep(taskId: string, result: string): void {
    if (result.length <= MAX_KEPT_CHARACTERS) this.kept.set(taskId, result);
  }

  private reportKept(work: Work, result: string): void {
    this.release();
    this.report(work, result);
  }

  private report(work: Work, result: string): void {
    work.phase = 'reporting';
    const json = `{"op":"complete","delivery_id":${JSON.stringify(work.offer.delivery_id)},${result}}`;
    this.deps.outbox.push('complete', json, (settlement) => {
      if (settlement.kind === 'refused') {
        const message = `the centre refused the result: ${settlement.code}: ${settlement.detail}`;
        return this.reportFailure(work, { code: 'AGENT_ERROR', message, retryable: false });
      }
      this.works.delete(work.offer.delivery_id);
      const code = reasonOf(settlement);
      if (code === undefined) return this.kept.delete(work.offer.task_id);
      this.keep(work.offer.task_id, result);
      this.deps.dropped(work.offer.delivery_id, code);
    });
  }

  private reportFailure(work: Work, failure: Failure): void {
    work.phase = 'reporting';
    this.say('fail', work, failOperation(work.offer.delivery_id, failure), (settlement) => {
      this.works.delete(work.offer.delivery_id);
      const code = reasonOf(settlement);
      if (code) this.deps.dropped(work.offer.delivery_id, code);
    });
  }

  private progress(work: Work, progress: Progress): Promise<Date> {
    const current = work.context?.deadline ?? new Date();
    if (work.stale) return Promise.resolve(current);
    const operation = {
      op: 'progress',
      delivery_id: work.offer.delivery_id,
      extend_ms: progress.extendMs === undefined ? undefined : extensionMs(progress.extendMs),
      note: progress.note === undefined ? undefined : cut(progress.note, MAX_NOTE),
    };
    return new Promise((resolve) => {
      this.say('progress', work, operation, (settlement) => {
        if (settlement.kind !== 'answer') return resolve(current);
        const { answer } = settlement;
        if (answer.error) this.abort(work, answer.error.code);
        resolve(answer.deadline === undefined ? current : new Date(answer.deadline));
      });
    });
  }

  private say(op: OperationKind, work: Work, body: object, settle: (settlement: Settlement) => void): void {
    this.deps.outbox.push(op, JSON.stringify(body), settle);
  }
}

/** Within the bounds of the wire: a whole number of milliseconds, at most a week. */
function extensionMs(ms: number): number {
  return Math.min(604_800_000, Math.max(1, Math.round(ms) || 1));
}

/** Why an operation did not take effect; undefined: it did. */
function reasonOf(settlement: Settlement): string | undefined {
  switch (settlement.kind) {
    case 'refused':
      return settlement.code;
    case 'lost':
      return 'lost';
    case 'answer':
      return (
        settlement.answer.error?.code ??
        (settlement.answer.execute === false ? settlement.answer.reason : undefined)
      );
  }
}
