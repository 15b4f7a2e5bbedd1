import { Injectable } from '@nestjs/common';
import { WORKING_STATES } from '../core/agent-state.js';
import type { Requirement } from '../core/lane.js';
import { freshest, powerOfTwo, selectByAffinity, type Selector } from '../core/selection.js';
import { deliveryIdOf } from '../core/task-state.js';
import { failpoint } from '../platform/lifecycle/failpoints.js';
import type { Transport } from '../registry/agent-row.js';
import { ReachTable, type ReachEntry } from '../registry/reach-table.js';
import { Switches } from '../registry/switches.js';
import { DeadlineAlarm } from './deadline-alarm.js';
import { Depths } from './depths.js';
import { type Offered } from './transports/offered.js';
import { Offers } from './transports/offers.js';
import { type OfferChoice, type PickedTask, PlacementStore } from './placement.store.js';
import { SchedulerMetrics } from './scheduler-metrics.js';
import { Slots } from './slots.js';
import { TaskNews } from './task-news.js';

/** Most tasks placed by one transaction. */
const BATCH = 200;

interface Choice extends OfferChoice {
  entry: ReachEntry;
  deliveryId: string;
}

/** Reservations went before they were committed, with Redis: the pass is rolled back. */
class SlotsLost extends Error {}

/**
 * Places the tasks of one lane: eligible agents from memory, a choice for each task, a slot for each choice,
 * one transaction that picks and offers. The offers go out after the commit.
 */
@Injectable()
export class Placement {
  private readonly selector: Selector = powerOfTwo;

  constructor(
    private readonly table: ReachTable,
    private readonly switches: Switches,
    private readonly slots: Slots,
    private readonly store: PlacementStore,
    private readonly depths: Depths,
    private readonly offers: Offers,
    private readonly alarm: DeadlineAlarm,
    private readonly metrics: SchedulerMetrics,
    private readonly news: TaskNews,
  ) {}

  /**
   * Places as much of the lane as there is room for.
   * @returns how many were placed, and whether tasks may be left behind, to be placed when an agent has room
   */
  async place(lane: string, requirement: Requirement): Promise<{ placed: number; left: boolean }> {
    for (let placed = 0; ;) {
      if (this.switches.blocking(requirement) !== undefined) return { placed, left: true };
      const eligible = this.table.eligible(requirement);
      const room = eligible.reduce((sum, e) => sum + e.maxConcurrency - e.inFlight, 0);
      if (room <= 0) return { placed, left: true };
      const limit = Math.min(room, BATCH);
      const { picked, offered } = await this.placeSome(lane, eligible, limit);
      if (offered.length > 0) {
        this.depths.add(lane, -offered.length);
        failpoint('offer_after_commit');
        this.offers.deliver(offered);
        failpoint('offer_after_send');
        this.news.stepped(offered.map((o) => o.frame.id));
        this.alarm.set(Math.min(...offered.map((o) => o.ackTimeoutMs)));
      }
      placed += offered.length;
      // Fewer than were asked for: that was the whole lane. What came later came with an order of its own.
      if (picked < limit && offered.length === picked) return { placed, left: false };
    }
  }

  private async placeSome(
    lane: string,
    eligible: readonly ReachEntry[],
    limit: number,
  ): Promise<{ picked: number; offered: Offered[] }> {
    const reserved: Choice[] = [];
    try {
      return await this.store.withHead(lane, async (head) => {
        const tasks = await head.pick(lane, limit);
        if (tasks.length === 0) return { picked: 0, offered: [] };
        const reservedAt = performance.now();
        // A connection and the locks may have been waited for, long enough for an agent to have died meanwhile.
        const reachable = eligible.filter((e) => WORKING_STATES.includes(e.state));
        const granted = await this.reserve(this.choose(tasks, reachable), reserved);
        if (granted.length === 0) return { picked: tasks.length, offered: [] };
        const deadlines = await head.offer(granted);
        if (!(await this.slots.stand(granted, reservedAt))) throw new SlotsLost();
        failpoint('offer_before_commit');
        for (const { task } of granted) this.metrics.offered(task.capability, task.waited_ms);
        return { picked: tasks.length, offered: granted.map((c) => toOffered(c, deadlines)) };
      });
    } catch (error) {
      for (const choice of reserved) this.slots.release(choice.entry.key, [choice.deliveryId]);
      // The lane is looked at again: by then these agents count as full for a moment, or others have room.
      if (error instanceof SlotsLost) return { picked: reserved.length, offered: [] };
      throw error;
    }
  }

  /** An agent for each task; tasks that none has room for are left out. */
  private choose(tasks: readonly PickedTask[], eligible: readonly ReachEntry[]): Choice[] {
    const free = new Map(eligible.map((e) => [e, e.maxConcurrency - e.inFlight]));
    const choices: Choice[] = [];
    let open = [...eligible];
    for (const task of tasks) {
      const entry = this.chooseOne(task, open);
      if (entry === undefined) break;
      const deliveryId = deliveryIdOf(task.id, task.fence + 1);
      // Counted from here on, so that the next choice sees it; `reserve` takes it back if it gets no slot.
      entry.held.add(deliveryId);
      const left = (free.get(entry) ?? 0) - 1;
      free.set(entry, left);
      if (left <= 0) open = open.filter((e) => e !== entry);
      const transport: Transport = this.offers.transportFor(entry);
      choices.push({ task, entry, deliveryId, agentId: entry.agentId, leaseId: entry.leaseId, transport });
    }
    return choices;
  }

  /** An agent that has not tried the task yet, where there is one; else not the one that tried it last. */
  private chooseOne(task: PickedTask, open: readonly ReachEntry[]): ReachEntry | undefined {
    const candidates = freshest(open, task.tried);
    if (task.affinity_key !== null) return selectByAffinity(candidates, task.affinity_key);
    return this.selector.select(candidates, Math.random);
  }

  /** Reserves the slots of all choices, agent by agent; `reserved` also tells what to give back on failure. */
  private async reserve(choices: readonly Choice[], reserved: Choice[]): Promise<Choice[]> {
    reserved.push(...choices);
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
        );
        for (const choice of group.slice(n)) entry.held.delete(choice.deliveryId);
        return group.slice(0, n);
      }),
    );
    return granted.flat();
  }
}

function toOffered(choice: Choice, deadlines: ReadonlyMap<string, Date>): Offered {
  const { task, entry, deliveryId, leaseId, transport } = choice;
  const ackDeadline = deadlines.get(task.id);
  // The row is locked by this transaction, so the statement cannot have passed it over.
  if (ackDeadline === undefined) throw new Error(`task ${task.id} was picked but not offered`);
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
