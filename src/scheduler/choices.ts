import { Injectable } from '@nestjs/common';
import { slotsOf, type Eligible } from '../core/eligibility.js';
import { DEFAULT_POLICY } from '../core/policy.js';
import type { ScoreInput } from '../core/score.js';
import { choose, freshest, selectByAffinity } from '../core/selection.js';
import { deliveryIdOf } from '../core/task-state.js';
import type { Transport } from '../registry/agent-row.js';
import type { ReachEntry } from '../registry/reach-table.js';
import { Windows } from '../registry/windows.js';
import type { OfferChoice, PickedTask } from './placement.store.js';
import { Slots } from './slots.js';
import type { Offered } from './transports/offered.js';
import { Offers } from './transports/offers.js';

/** A task, and the agent it shall go to. */
export interface Choice extends OfferChoice {
  entry: ReachEntry;
  deliveryId: string;
  /** How many tasks the agent may hold, this one included. */
  slots: number;
}

/** An agent for each task, and a slot of it. */
@Injectable()
export class Choices {
  constructor(
    private readonly slots: Slots,
    private readonly offers: Offers,
    private readonly windows: Windows,
  ) {}

  /** An agent for each task; tasks that none has room for are left out. Whoever calls reserves or releases them. */
  choose(tasks: readonly PickedTask[], { agents, panic }: Eligible<ReachEntry>): Choice[] {
    const free = new Map(agents.map((e) => [e, slotsOf(e, panic) - e.inFlight]));
    const choices: Choice[] = [];
    let open = [...agents];
    for (const task of tasks) {
      const entry = this.chooseOne(task, open, panic);
      if (entry === undefined) break;
      const deliveryId = deliveryIdOf(task.id, task.fence + 1);
      const slots = slotsOf(entry, panic);
      // Counted from here on, so that the next choice sees it; `reserve` takes it back if it gets no slot.
      entry.held.add(deliveryId);
      const left = (free.get(entry) ?? 0) - 1;
      free.set(entry, left);
      if (left <= 0) open = open.filter((e) => e !== entry);
      const transport: Transport = this.offers.transportFor(entry);
      const { agentId, leaseId } = entry;
      choices.push({ task, entry, deliveryId, slots, agentId, leaseId, transport });
    }
    return choices;
  }

  /** An agent that has not tried the task yet, where there is one; else not the one that tried it last. */
  private chooseOne(task: PickedTask, open: readonly ReachEntry[], panic: boolean): ReachEntry | undefined {
    const candidates = freshest(open, task.tried);
    if (task.affinity_key !== null) return selectByAffinity(candidates, task.affinity_key);
    const at = (i: number) => candidates[i] && this.inputOf(candidates[i], task.capability, panic);
    const seed = Math.floor(Math.random() * 2 ** 32);
    const selection = choose({ length: candidates.length, at }, DEFAULT_POLICY, { seed });
    return selection && candidates[selection.index];
  }

  private inputOf(entry: ReachEntry, capability: string, panic: boolean): ScoreInput {
    const nowMs = performance.now();
    const work = this.windows.workFor(entry.key, capability, nowMs);
    return {
      agentId: entry.agentId,
      successRate: work?.successRate,
      p50Ms: work?.p50Ms,
      p95Ms: work?.p95Ms,
      consecutiveFailures: work?.consecutiveFailures ?? 0,
      // Whoever may have work has a fresh heartbeat. How long ago it worked says nothing: it would go on having none.
      idleMs: 0,
      inFlight: entry.inFlight,
      maxConcurrency: Math.max(1, slotsOf(entry, panic)),
      weight: entry.weight,
      sinceSeriousFailureMs: entry.breaker.sinceSeriousFailureMs(nowMs),
      throttled: entry.throttled,
    };
  }

  /**
   * Reserves the slots of all choices, agent by agent; those that got none are no longer counted.
   * @returns those that got one
   * @throws CoordinatorUnavailable; then `release` gives back what was granted before
   */
  async reserve(choices: readonly Choice[]): Promise<Choice[]> {
    const byEntry = new Map<ReachEntry, Choice[]>();
    for (const choice of choices) {
      const group = byEntry.get(choice.entry);
      if (group === undefined) byEntry.set(choice.entry, [choice]);
      else group.push(choice);
    }
    const granted = await Promise.all(
      [...byEntry].map(async ([entry, group]) => {
        const n = await this.slots.reserve(
          entry,
          group.map((c) => c.deliveryId),
          group[0]?.slots ?? 0,
        );
        for (const choice of group.slice(n)) entry.held.delete(choice.deliveryId);
        return group.slice(0, n);
      }),
    );
    return granted.flat();
  }

  /**
   * Gives slots back, whether they were granted or only counted. To be awaited before anybody else can place these tasks:
   * their next deliveries have the same ids, and would lose their slots by it.
   */
  async release(choices: readonly Choice[]): Promise<void> {
    await Promise.all(choices.map((c) => this.slots.release(c.entry.key, [c.deliveryId])));
  }

  /**
   * Whether the reservations are good still.
   * @param reservedAt ms of the monotonic clock at which they were made
   */
  stand(choices: readonly Choice[], reservedAt: number): Promise<boolean> {
    return this.slots.stand(choices, reservedAt);
  }
}

/** The offer of a choice that stands in the ledger. */
export function toOffered(choice: Choice, ackDeadline: Date): Offered {
  const { task, entry, deliveryId, leaseId, transport } = choice;
  return {
    deliveryId,
    agentKey: entry.key,
    leaseId,
    transport,
    endpoint: entry.endpoint,
    ackTimeoutMs: task.ack_timeout_ms,
    ackUntil: performance.now() + task.ack_timeout_ms,
    slots: entry.maxConcurrency,
    frame: {
      id: task.id,
      fence: task.fence + 1,
      attempt: task.attempt + 1,
      capability: task.capability,
      payload: task.payload,
      idempotent: task.idempotent,
      parent_task_id: task.parent_task_id,
      traceparent: task.traceparent,
      execution_timeout_ms: task.execution_timeout_ms,
      deadline_at: ackDeadline,
    },
  };
}
