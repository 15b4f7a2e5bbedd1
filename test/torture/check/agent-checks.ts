import {
  type Check,
  type Execution,
  type FaultLine,
  fenceOf,
  type Indexed,
  type Transition,
  type Violation,
} from './history.js';
import { FAULTS } from '../plan/schedule.js';
import { openWindows, overlapMs, type Window } from './windows.js';

/* What must hold of agents and the work they have: claimed first, within their limits, and never left with the dead. */

export const claimedFirst: Check = {
  name: 'executed_without_claim',
  says: 'A handler begins only a delivery whose ACK was answered with execute: true, and each one once',
  find: ({ transitions, executions }) =>
    [...executions].flatMap(([task, began]) => {
      const claimed = new Set(
        (transitions.get(task) ?? []).filter((t) => t.state === 'running').map((t) => t.fence),
      );
      const seen = new Set<string>();
      return began.flatMap((e) => {
        const again = seen.has(e.delivery);
        seen.add(e.delivery);
        if (!claimed.has(fenceOf(e.delivery)))
          return [{ what: `${e.agent} began ${e.delivery}, which was never claimed`, task }];
        return again ? [{ what: `${e.delivery} was begun twice`, task }] : [];
      });
    }),
};

export const withinLimits: Check = {
  name: 'above_the_declared_limit',
  says: "An agent's open deliveries and running handlers never exceed its max_concurrency",
  find: (history) => [...heldAboveLimit(history), ...runAboveLimit(history)],
};

function heldAboveLimit({ of }: Indexed): Violation[] {
  const held = new Map<string, Set<string>>();
  const holder = new Map<string, string>();
  const found: Violation[] = [];
  for (const t of of.transitions) {
    const before = holder.get(t.task_id);
    if (before !== undefined && (t.state === 'offered' || !isHeld(t))) {
      held.get(before)?.delete(t.task_id);
      holder.delete(t.task_id);
    }
    if (t.state !== 'offered' || t.agent_id === null) continue;
    const tasks = held.get(t.agent_id) ?? new Set();
    held.set(t.agent_id, tasks.add(t.task_id));
    holder.set(t.task_id, t.agent_id);
    const limit = of.concurrency.get(t.agent_id) ?? Infinity;
    if (tasks.size > limit)
      found.push({
        what: `${t.agent_id} holds ${tasks.size} deliveries, its limit is ${limit}`,
        task: t.task_id,
      });
  }
  return found;
}

const isHeld = (t: Transition): boolean => t.state === 'offered' || t.state === 'running';

function runAboveLimit({ of, executions }: Indexed): Violation[] {
  const deaths = of.agents.flatMap((line) =>
    line.event === 'process' ? line.agents.map((agent) => ({ agent, at: line.at })) : [],
  );
  const byAgent = new Map<string, Execution[]>();
  for (const e of [...executions.values()].flat()) byAgent.set(e.agent, [...(byAgent.get(e.agent) ?? []), e]);
  return [...byAgent].flatMap(([agent, runs]) => {
    const limit = of.concurrency.get(agent) ?? Infinity;
    // What never ended went with its process, at the latest when the next one began.
    const starts = deaths.filter((d) => d.agent === agent).map((d) => d.at);
    const steps = runs
      .flatMap((e) => [
        { at: e.began, by: 1, task: e.task },
        { at: e.ended ?? starts.find((at) => at > e.began) ?? Infinity, by: -1, task: e.task },
      ])
      .sort((a, b) => a.at - b.at || a.by - b.by);
    let running = 0;
    const found: Violation[] = [];
    for (const { by, task } of steps) {
      running += by;
      if (running > limit)
        found.push({ what: `${agent} runs ${running} handlers, its limit is ${limit}`, task });
    }
    return found;
  });
}

/** When we were not able to hear agents, or to tell each other of them: what broke was on our side. */
function outagesOf({ of }: Indexed): Window[] {
  return openWindows(of.faults.filter(isOurs), of.bounds.leaseTtlMs);
}

/** What the nemesis does to agents and callers is no excuse for dispatchers. */
const THEIRS: ReadonlySet<string> = new Set(['group', 'fleet', 'load']);

function isOurs(fault: FaultLine): boolean {
  return fault.event !== 'start' || !THEIRS.has(FAULTS[fault.kind].target);
}

/** From the time an agent was killed to the time it registered again. */
interface Death {
  agent: string;
  from: number;
  to: number;
}

function deathsOf({ of }: Indexed): Death[] {
  return of.faults.flatMap((line) =>
    line.event !== 'dead'
      ? []
      : line.agents.map((agent) => ({
          agent,
          from: line.at,
          to: of.leases.find((l) => l.agent_id === agent && l.at > line.at)?.at ?? Infinity,
        })),
  );
}

export const nothingForTheDead: Check = {
  name: 'offered_to_the_dead',
  says: 'An agent that was killed gets no more offers after 3 s (outages of ours, when nobody can be heard, apart)',
  find: (history) => {
    const { of } = history;
    const outages = outagesOf(history);
    return deathsOf(history).flatMap(({ agent, from, to }) =>
      of.transitions.flatMap((t) => {
        if (t.state !== 'offered' || t.agent_id !== agent || t.at >= to) return [];
        const lateMs = t.at - from - of.bounds.deadAfterMs;
        if (lateMs <= 0 || lateMs <= overlapMs(outages, from, t.at)) return [];
        return [
          {
            what: `${agent} was offered work ${Math.round(t.at - from)} ms after its death`,
            task: t.task_id,
          },
        ];
      }),
    );
  },
};

export const noOrphans: Check = {
  name: 'orphans',
  says: 'What a dead agent held is taken from it within its lease and two sweeps (outages of ours apart)',
  find: (history) => {
    const { of } = history;
    const outages = outagesOf(history);
    const allowedMs = of.bounds.leaseTtlMs + 2 * of.bounds.sweepMs + SLACK_MS;
    const holds = holdsOf(history);
    // Also when it is back: its new life knows nothing of what it held before.
    return deathsOf(history).flatMap(({ agent, from }) =>
      holds.flatMap((hold) => {
        if (hold.agent !== agent || hold.from > from || hold.to < from) return [];
        const keptMs = hold.to - from;
        if (keptMs - overlapMs(outages, from, from + keptMs) <= allowedMs) return [];
        return [{ what: `${agent} is dead, and held it for ${Math.round(keptMs)} ms more`, task: hold.task }];
      }),
    );
  },
};

/** What a busy machine takes between a deadline and the statement that enforces it. */
const SLACK_MS = 1500;

interface Hold extends Window {
  agent: string;
  task: string;
}

/** When which agent held which task. */
function holdsOf({ transitions }: Indexed): Hold[] {
  return [...transitions].flatMap(([task, steps]) =>
    steps.flatMap((t, i): Hold[] => {
      if (t.state !== 'offered' || t.agent_id === null) return [];
      const left = steps.slice(i + 1).find((s) => s.fence !== t.fence || !isHeld(s));
      return [{ agent: t.agent_id, task, from: t.at, to: left?.at ?? Infinity }];
    }),
  );
}

export const cancelHolds: Check = {
  name: 'canceled_then_begun',
  says: 'A task whose cancel was answered is not begun afterwards (a claim that was on its way apart)',
  find: ({ of, executions }) => {
    const frozen = openWindows(
      of.faults.filter((f) => f.event !== 'dead'),
      0,
    );
    return of.client.flatMap((line) =>
      line.event !== 'canceled' || !line.canceled
        ? []
        : (executions.get(line.task) ?? []).flatMap((e) => {
            const lateMs = e.began - line.at - ON_ITS_WAY_MS;
            return lateMs > 0 && lateMs > overlapMs(frozen, line.at, e.began)
              ? [
                  {
                    what: `began ${Math.round(e.began - line.at)} ms after its cancel was answered`,
                    task: line.task,
                  },
                ]
              : [];
          }),
    );
  },
};

/** How long an answer to an ACK may be under way. */
const ON_ITS_WAY_MS = 1000;

/** So few say nothing about a share. */
const FEW = 5;

/** Why a task is delivered again although nothing in it called for that. */
const WASTE: ReadonlySet<string> = new Set([
  'ACK_TIMEOUT',
  'AGENT_LOST',
  'CONNECTION_FAILED',
  'DELIVERY_SUPERSEDED',
]);

export const littleWaste: Check = {
  name: 'amplification',
  says: 'While nothing is broken there are at most 1.10 deliveries a task, retries of failed attempts apart',
  find: ({ of, transitions, deliveries }) => {
    const windows = openWindows(of.faults, 2 * of.bounds.leaseTtlMs);
    let tasks = 0;
    let wasted = 0;
    for (const [task, steps] of transitions) {
      const from = steps[0]?.at ?? 0;
      const to = steps.at(-1)?.at ?? 0;
      if (!steps.some((s) => s.state === 'offered') || overlapMs(windows, from, to) > 0) continue;
      tasks += 1;
      wasted += (deliveries.get(task) ?? []).filter((d) => WASTE.has(d.code ?? '')).length;
    }
    if (wasted <= tasks * (of.bounds.amplification - 1) + FEW) return [];
    const share = ((tasks + wasted) / tasks).toFixed(3);
    return [{ what: `${wasted} deliveries of ${tasks} tasks came to nothing: ${share} a task` }];
  },
};

export const slotsAreFreed: Check = {
  name: 'slot_kept',
  says: 'The slot of a delivery is free 3 s after its end (outages of ours apart)',
  find: (history) => {
    const { faults, bounds } = history.of;
    const outages = openWindows(
      faults.filter((f) => f.event !== 'stall' && isOurs(f)),
      bounds.leaseTtlMs + SEEN_AGAIN_MS,
    );
    const stalls = openWindows(
      faults.filter((f) => f.event === 'stall'),
      0,
    );
    const first = new Map<string, number>();
    const found = new Set<string>();
    for (const line of faults) {
      if (line.event !== 'slot_kept') continue;
      const from = first.get(line.delivery);
      // Twice: the first look may have come between the end and its consequences.
      if (from === undefined) first.set(line.delivery, line.at);
      else if (
        overlapMs(outages, from - SEEN_AGAIN_MS, line.at) === 0 &&
        line.at - from > overlapMs(stalls, from, line.at) + FREED_WITHIN_MS
      )
        found.add(line.delivery);
    }
    return [...found].map((delivery) => ({ what: `${delivery} has ended and holds a slot` }));
  },
};

const SEEN_AGAIN_MS = 4000;
const FREED_WITHIN_MS = 1000;

export const drainFinishes: Check = {
  name: 'drained_away',
  says: 'What an agent finished before it left in the orderly way was not taken from it',
  find: (history) => {
    const { of, executions, deliveries } = history;
    // Only leaving itself is no excuse.
    const others = of.faults.filter((f) => f.event !== 'start' || f.kind !== 'restart_agents');
    const outages = openWindows(others, of.bounds.leaseTtlMs);
    return [...executions].flatMap(([task, runs]) =>
      runs.flatMap((e) => {
        const { ended } = e;
        if (ended === undefined || overlapMs(outages, e.began, ended) > 0) return [];
        const next = of.agents.find(
          (a) => a.at > ended && a.event === 'process' && a.agents.includes(e.agent),
        );
        const left = of.agents.find((a) => a.event === 'stopped' && a.agent === e.agent && a.at > ended);
        if (left === undefined || (next !== undefined && next.at < left.at)) return [];
        const closed = (deliveries.get(task) ?? []).find((d) => d.fence === fenceOf(e.delivery));
        if (closed?.code !== 'AGENT_LOST') return [];
        const lost = of.agents.some(
          (a) => a.event === 'lease_lost' && a.agent === e.agent && a.at > e.began && a.at < left.at,
        );
        return lost
          ? []
          : [{ what: `${e.agent} finished ${e.delivery} and left, and it was counted as lost`, task }];
      }),
    );
  },
};

export const AGENT_CHECKS: readonly Check[] = [
  claimedFirst,
  withinLimits,
  nothingForTheDead,
  noOrphans,
  cancelHolds,
  slotsAreFreed,
  drainFinishes,
  littleWaste,
];
