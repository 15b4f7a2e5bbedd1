import { Injectable } from '@nestjs/common';
import { WORKING_STATES } from '../core/agent-state.js';
import { slotsOf } from '../core/eligibility.js';
import type { Requirement } from '../core/lane.js';
import { failpoint } from '../platform/lifecycle/failpoints.js';
import { ReachTable } from '../registry/reach-table.js';
import { Switches } from '../registry/switches.js';
import { type Choice, Choices, type Occasion, toOffered } from './choices.js';
import { DeadlineAlarm } from './deadline-alarm.js';
import { Depths } from './depths.js';
import { type LaneHead, PlacementStore } from './placement.store.js';
import { Policies } from './policy/policies.js';
import { SchedulerMetrics } from './scheduler-metrics.js';
import { TaskNews } from './task-news.js';
import type { Offered } from './transports/offered.js';
import { Offers } from './transports/offers.js';

/** Most tasks placed by one transaction. */
const BATCH = 200;

/** Reservations went before they were committed, with Redis: the pass is rolled back. */
class SlotsLost extends Error {}

/**
 * Places the tasks of one lane: eligible agents from memory, a choice for each task, a slot for each choice,
 * one transaction that picks and offers. The offers go out after the commit.
 */
@Injectable()
export class Placement {
  constructor(
    private readonly table: ReachTable,
    private readonly switches: Switches,
    private readonly policies: Policies,
    private readonly choices: Choices,
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
      const { panic: panicAllowed } = this.policies.for(requirement).policy;
      const eligible = this.table.eligible(requirement, panicAllowed);
      const { agents, panic } = eligible;
      const room = agents.reduce((sum, e) => sum + slotsOf(e, panic) - e.inFlight, 0);
      if (room <= 0) return { placed, left: true };
      const limit = Math.min(room, BATCH);
      const { picked, offered } = await this.placeSome(lane, { requirement, ...eligible }, limit);
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
    occasion: Occasion,
    limit: number,
  ): Promise<{ picked: number; offered: Offered[] }> {
    try {
      return await this.store.withHead(lane, async (head) => {
        const tasks = await head.pick(lane, limit);
        if (tasks.length === 0) return { picked: 0, offered: [] };
        // A connection and the locks may have been waited for, long enough for an agent to have died meanwhile.
        const agents = occasion.agents.filter((e) => WORKING_STATES.includes(e.state));
        const chosen = this.choices.choose(tasks, { ...occasion, agents });
        try {
          return { picked: tasks.length, offered: await this.offer(head, chosen) };
        } catch (error) {
          // Before the rollback lets another dispatcher have these tasks. Where only the commit fails its outcome is
          // unknown: the reconcile frees what was not committed.
          await this.choices.release(chosen);
          throw error;
        }
      });
    } catch (error) {
      // The lane is looked at again: by then these agents count as full for a moment, or others have room.
      if (error instanceof SlotsLost) return { picked: limit, offered: [] };
      throw error;
    }
  }

  private async offer(head: LaneHead, chosen: readonly Choice[]): Promise<Offered[]> {
    const reservedAt = performance.now();
    const granted = await this.choices.reserve(chosen);
    if (granted.length === 0) return [];
    const deadlines = await head.offer(granted);
    if (!(await this.choices.stand(granted, reservedAt))) throw new SlotsLost();
    failpoint('offer_before_commit');
    for (const { task, decision } of granted)
      this.metrics.offered(task.capability, task.waited_ms, decision.panic === true);
    return granted.map((c) => toOffered(c, deadlineOf(c, deadlines)));
  }
}

function deadlineOf({ task }: Choice, deadlines: ReadonlyMap<string, Date>): Date {
  const deadline = deadlines.get(task.id);
  // The row is locked by this transaction, so the statement cannot have passed it over.
  if (deadline === undefined) throw new Error(`task ${task.id} was picked but not offered`);
  return deadline;
}
