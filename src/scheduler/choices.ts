import { Injectable } from '@nestjs/common';
import { type Decision, recordOf } from '../core/decision.js';
import { slotsOf, type Eligible } from '../core/eligibility.js';
import { laneLabel, type Requirement } from '../core/lane.js';
import { choose, freshest, selectByAffinity, type Turn } from '../core/selection.js';
import { deliveryIdOf } from '../core/task-state.js';
import { timeoutOf } from '../core/timeouts.js';
import { agentKey, type Transport } from '../registry/agent-row.js';
import type { ReachEntry } from '../registry/reach-table.js';
import type { OfferChoice, PickedTask } from './placement.store.js';
import { type Effective, Policies } from './policy/policies.js';
import { Slots } from './slots.js';
import { Standings } from './standings.js';
import type { Offered } from './transports/offered.js';
import { Offers } from './transports/offers.js';

/** A task, and the agent it shall go to. */
export interface Choice extends OfferChoice {
  entry: ReachEntry;
  deliveryId: string;
  /** How many tasks the agent may hold, this one included. */
  slots: number;
}

/** Among whom to choose, for what. */
export interface Occasion extends Eligible<ReachEntry> {
  requirement: Requirement;
}

/** What holds for every task of an occasion. */
type Rules = Pick<Effective, 'policy' | 'digest' | 'timeouts'> & { kind: string };

/** Capabilities whose turns of the round robin are kept. */
const MOST_TURNS = 1000;

/** An agent for each task, and a slot of it. */
@Injectable()
export class Choices {
  /** For the weighted round robin: what former choices left, by kind of work and agent. */
  private readonly turns = new Map<string, Map<string, number>>();

  constructor(
    private readonly slots: Slots,
    private readonly offers: Offers,
    private readonly policies: Policies,
    private readonly standings: Standings,
  ) {}

  /** An agent for each task; tasks that none has room for are left out. Whoever calls reserves or releases them. */
  choose(tasks: readonly PickedTask[], occasion: Occasion): Choice[] {
    const { agents, panic, requirement } = occasion;
    const rules = { ...this.policies.for(requirement), kind: laneLabel(requirement) };
    const free = new Map(agents.map((e) => [e, slotsOf(e, panic) - e.inFlight]));
    const choices: Choice[] = [];
    let open = [...agents];
    for (const task of tasks) {
      const chosen = this.chooseOne(task, open, occasion, rules);
      if (chosen === undefined) break;
      const { entry } = chosen;
      const { decision, executionTimeoutMs } = this.timed(task, chosen, rules);
      const deliveryId = deliveryIdOf(task.id, task.fence + 1);
      const slots = slotsOf(entry, panic);
      // Counted from here on, so that the next choice sees it; `reserve` takes it back if it gets no slot.
      entry.held.add(deliveryId);
      const left = (free.get(entry) ?? 0) - 1;
      free.set(entry, left);
      if (left <= 0) open = open.filter((e) => e !== entry);
      const transport: Transport = this.offers.transportFor(entry);
      const { agentId, leaseId } = entry;
      const delivery = { deliveryId, agentId, leaseId, transport, decision, executionTimeoutMs };
      choices.push({ task, entry, slots, ...delivery });
    }
    return choices;
  }

  /** How long the delivery may run, and why in its decision, unless the task says so. */
  private timed(
    task: PickedTask,
    { entry, decision }: { entry: ReachEntry; decision: Decision },
    { timeouts, kind }: Rules,
  ): { decision: Decision; executionTimeoutMs: number } {
    if (task.own_timeout) return { decision, executionTimeoutMs: task.execution_timeout_ms };
    const { ms, by } = timeoutOf(timeouts, this.standings.takenOf(entry, kind));
    if (by !== undefined) decision.timeout = { ms, by };
    return { decision, executionTimeoutMs: ms };
  }

  /** An agent that has not tried the task yet, where there is one; else not the one that tried it last. */
  private chooseOne(
    task: PickedTask,
    open: readonly ReachEntry[],
    { requirement, panic, rejected }: Occasion,
    { policy, digest, kind }: Rules,
  ): { entry: ReachEntry; decision: Decision } | undefined {
    const candidates = freshest(open, task.tried);
    const seed = Math.floor(Math.random() * 2 ** 32);
    const about = panic ? { policy: digest, seed, rejected, panic } : { policy: digest, seed, rejected };
    if (task.affinity_key !== null) {
      const entry = selectByAffinity(candidates, task.affinity_key);
      const compared = entry === undefined ? [] : [this.standings.inputOf(entry, kind, panic)];
      return entry && { entry, decision: { ...about, by: 'affinity', compared, of: candidates.length } };
    }
    const inputs = this.standings.inputsOf(candidates, kind, panic);
    const turnKey = agentKey(requirement.namespace, kind);
    const turn = policy.strategy === 'weighted_round_robin' ? this.turns.get(turnKey) : undefined;
    const selection = choose(inputs, policy, { seed, turn });
    const entry = selection && candidates[selection.index];
    if (selection === undefined || entry === undefined) return undefined;
    const decision = recordOf(selection, inputs, { ...about, turn });
    if (selection.turn !== undefined) this.keepTurn(turnKey, selection.turn);
    return { entry, decision };
  }

  private keepTurn(key: string, left: Turn): void {
    let turn = this.turns.get(key);
    if (turn === undefined) {
      if (this.turns.size >= MOST_TURNS) this.turns.clear();
      this.turns.set(key, (turn = new Map<string, number>()));
    }
    for (const [agentId, has] of left) turn.set(agentId, has);
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
      capability: entry.nameOf(task.capability),
      payload: task.payload,
      idempotent: task.idempotent,
      parent_task_id: task.parent_task_id,
      traceparent: task.traceparent,
      fallback: task.fallback,
      execution_timeout_ms: choice.executionTimeoutMs,
      start_in_ms: task.start_in_ms,
      end_in_ms: task.end_in_ms,
      read_at: task.read_at,
      deadline_at: ackDeadline,
    },
  };
}
