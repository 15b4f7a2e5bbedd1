import { Injectable, Logger } from '@nestjs/common';
import { WORKING_STATES } from '../core/agent-state.js';
import type { Eligible } from '../core/eligibility.js';
import { requirementOf, type Requirement } from '../core/lane.js';
import { CoordinatorUnavailable } from '../platform/coordination/coordinator.js';
import { failpoint } from '../platform/lifecycle/failpoints.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { ReachTable, type ReachEntry } from '../registry/reach-table.js';
import { Switches } from '../registry/switches.js';
import type { FirstOffer, NewTask } from './admission.store.js';
import { type Choice, Choices, toOffered } from './choices.js';
import { Closer } from './closer.js';
import { Lanes } from './lanes.js';
import type { PickedTask } from './placement.store.js';
import { Policies } from './policy/policies.js';
import { SchedulerMetrics } from './scheduler-metrics.js';
import { TRUSTED_MS } from './slots.js';
import { TaskNews } from './task-news.js';
import { Offers } from './transports/offers.js';

/** An agent and a slot for a task that is not in the ledger yet. */
export class Seat {
  /** @param reservedAt ms of the monotonic clock */
  constructor(
    readonly choice: Choice,
    private readonly reservedAt: number,
  ) {}

  /** What to insert the task with now; undefined once the seat cannot be relied on: the task then queues. */
  get offer(): FirstOffer | undefined {
    return this.reachable && performance.now() - this.reservedAt < TRUSTED_MS ? this.choice : undefined;
  }

  /** Whether the agent can be reached still, under the lease that it had. */
  get reachable(): boolean {
    const { entry, leaseId } = this.choice;
    return entry.leaseId === leaseId && WORKING_STATES.includes(entry.state);
  }

  /** Whether the slot is held still; see `Slots.stand`. */
  stands(choices: Choices): Promise<boolean> {
    return choices.stand([this.choice], this.reservedAt);
  }
}

interface Want {
  task: NewTask;
  resolve: (seat: Seat | undefined) => void;
}

/**
 * Places tasks as they are accepted: while nobody waits in a lane and an agent has room, a task is inserted as offered
 * at once. That saves an order and a transaction, so most of the round trips between a task and its agent, where there
 * is little to do; where there is much, tasks queue, and lanes are placed in batches.
 */
@Injectable()
export class DirectPlacement {
  private readonly log = new Logger(DirectPlacement.name);
  /** Who asked since the last turn of the event loop, by lane. */
  private readonly wanted = new Map<string, Want[]>();
  /** Seats that are neither offered nor given back. */
  private readonly taken = new Set<Seat>();
  private allLeft: (() => void) | undefined;

  constructor(
    private readonly table: ReachTable,
    private readonly switches: Switches,
    private readonly lanes: Lanes,
    private readonly policies: Policies,
    private readonly choices: Choices,
    private readonly closer: Closer,
    private readonly offers: Offers,
    private readonly metrics: SchedulerMetrics,
    private readonly news: TaskNews,
    private readonly shutdown: Shutdown,
  ) {
    // Before the sessions end: an offer that comes while its agent is on the way to another replica could time out.
    shutdown.on('drain', 'direct placement', () => this.stop());
  }

  /**
   * A seat for a task that is about to be inserted, to be taken by `offer` or given back by `release`; undefined where
   * it has to queue. Tasks that come in one turn of the event loop are seated together.
   */
  async seek(task: NewTask): Promise<Seat | undefined> {
    if (task.delayMs > 0 || task.runAt !== null) return undefined;
    if (this.shutdown.stopping || this.lanes.isBusy(task.lane)) return undefined;
    return new Promise((resolve) => {
      const waiting = this.wanted.get(task.lane);
      if (waiting !== undefined) {
        waiting.push({ task, resolve });
        return;
      }
      this.wanted.set(task.lane, [{ task, resolve }]);
      setImmediate(() => void this.seat(task.lane));
    });
  }

  /** Never throws. */
  private async seat(lane: string): Promise<void> {
    const wants = this.wanted.get(lane) ?? [];
    this.wanted.delete(lane);
    const seats = new Map<string, Seat>();
    let chosen: Choice[] = [];
    try {
      const requirement = requirementOf(lane);
      if (this.switches.blocking(requirement) === undefined)
        chosen = this.choices.choose(wants.map(pickedOf), {
          requirement,
          ...this.eligible(requirement, wants),
        });
      const reservedAt = performance.now();
      for (const choice of await this.choices.reserve(chosen))
        seats.set(choice.task.id, new Seat(choice, reservedAt));
    } catch (err) {
      await this.choices.release(chosen);
      seats.clear();
      if (!(err instanceof CoordinatorUnavailable))
        this.log.error({ msg: 'tasks could not be placed as they came; they queue', lane, err });
    }
    for (const seat of seats.values()) this.taken.add(seat);
    for (const { task, resolve } of wants) resolve(seats.get(task.id));
  }

  private eligible(requirement: Requirement, wants: readonly Want[]): Eligible<ReachEntry> {
    const bound = wants.some(({ task }) => task.affinityKey !== null);
    const { panic } = this.policies.for(requirement).policy;
    return bound
      ? this.table.eligible(requirement, panic)
      : this.table.someEligible(requirement, wants.length, panic);
  }

  private stop(): Promise<void> {
    return new Promise((resolve) => {
      this.allLeft = resolve;
      if (this.taken.size === 0) resolve();
    });
  }

  /** Nobody knows whether the task was inserted: if it was not, the reconcile frees the slot. */
  leave(seat: Seat): void {
    this.taken.delete(seat);
    if (this.taken.size === 0) this.allLeft?.();
  }

  /** The task was not inserted, or has to queue: its first delivery will be another one than that of the seat. */
  release(seat: Seat): void {
    void this.choices.release([seat.choice]);
    this.leave(seat);
  }

  /**
   * The task was inserted as offered: sends the offer, or takes it back where the agent or its slot was lost meanwhile.
   * Never rejects: an offer that does not arrive meets its ACK deadline.
   */
  async offer(seat: Seat, namespace: string, ackDeadline: Date): Promise<void> {
    const { choice } = seat;
    try {
      if (seat.reachable && (await this.stands(seat))) {
        this.metrics.offered(choice.task.capability, 0, choice.decision.panic === true);
        failpoint('offer_after_commit');
        this.offers.deliver([toOffered(choice, ackDeadline)]);
        failpoint('offer_after_send');
        this.news.stepped([choice.task.id]);
        return;
      }
      await this.closer.release(deliveryOf(choice, namespace), 'DELIVERY_SUPERSEDED');
    } catch (err) {
      this.log.warn({ msg: 'an offer was not sent; it will time out', task_id: choice.task.id, err });
    } finally {
      this.leave(seat);
    }
  }

  private async stands(seat: Seat): Promise<boolean> {
    try {
      return await seat.stands(this.choices);
    } catch (error) {
      if (error instanceof CoordinatorUnavailable) return false;
      throw error;
    }
  }
}

/** The task as it will stand in the ledger before it is offered. */
function pickedOf({ task }: Want): PickedTask {
  return {
    id: task.id,
    fence: 0,
    attempt: 0,
    max_attempts: task.maxAttempts,
    capability: task.capability,
    payload: task.payload,
    idempotent: task.idempotent,
    affinity_key: task.affinityKey,
    parent_task_id: task.parentTaskId,
    traceparent: task.traceparent,
    ack_timeout_ms: task.ackTimeoutMs,
    execution_timeout_ms: task.executionTimeoutMs,
    own_timeout: task.ownTimeout,
    tried: [],
    fallback: null,
    start_in_ms: least(task.expiresInMs, task.timeoutMs),
    end_in_ms: task.timeoutMs,
    read_at: performance.now(),
    waited_ms: 0,
  };
}

function least(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function deliveryOf(choice: Choice, namespace: string): Parameters<Closer['release']>[0] {
  return {
    taskId: choice.task.id,
    fence: choice.task.fence + 1,
    leaseId: choice.leaseId,
    state: 'offered',
    namespace,
    capability: choice.task.capability,
    agentId: choice.agentId,
    attempt: choice.task.attempt + 1,
    maxAttempts: choice.task.max_attempts,
    idempotent: choice.task.idempotent,
  };
}
