import type { FaultLine, Indexed, Transition } from './history.js';
import { openWindows, overlapMs } from './windows.js';

/** How long it took until work went on after a fault, of those with no other fault at the same time. */
export interface Recovery {
  what: string;
  n: number;
  p50Ms: number | null;
  p99Ms: number | null;
}

/** What is still not going on by then is counted as that long. */
const LOOKED_FOR_MS = 30_000;

/** The figures that can be told from a run; where nothing of a kind happened, n is 0. */
export function recoveriesOf(history: Indexed): Recovery[] {
  const { of } = history;
  const kinds = (...names: string[]) =>
    of.faults.filter((f): f is Start => f.event === 'start' && names.includes(f.kind));
  const alone = (from: number, n: number | undefined): boolean =>
    overlapMs(
      openWindows(
        of.faults.filter((f) => f.event === 'stall' || ('n' in f && f.n !== n)),
        0,
      ),
      from,
      from + ALONE_MS,
    ) === 0;
  const deaths = kinds('kill_agents', 'revive_agents').flatMap((f) => {
    const dead = of.faults.find((d) => d.event === 'dead' && d.at >= f.at && d.agents[0] === f.agents[0]);
    return dead === undefined || !alone(dead.at, f.n) ? [] : [{ at: dead.at, agents: new Set(f.agents) }];
  });
  const offers = of.transitions.filter((t) => t.state === 'offered').map((t) => t.at);
  return [
    figure(
      'kill -9 of an agent: its tasks run elsewhere',
      deaths.flatMap(({ at, agents }) => runElsewhere(history, at, agents)),
    ),
    figure(
      'kill -9 of a dispatcher: outstanding work goes on',
      kinds('kill_dispatcher').flatMap((f) => (alone(f.at, f.n) ? goesOn(history, f.at) : [])),
    ),
    figure(
      'Redis restarted empty, or emptied: dispatch goes on',
      kinds('empty_redis', 'flushall').flatMap((f) => {
        const from = of.faults.find((s) => s.event === 'stop' && s.n === f.n)?.at;
        if (from === undefined || !alone(from, f.n)) return [];
        const next = offers.find((at) => at > from);
        return next === undefined ? [] : [next - from];
      }),
    ),
  ];
}

type Start = Extract<FaultLine, { event: 'start' }>;
const ALONE_MS = 3000;

/** Of tasks that ran at agents when they died: how long until each ran again. */
function runElsewhere({ transitions }: Indexed, at: number, agents: ReadonlySet<string>): number[] {
  return [...transitions.values()].flatMap((steps) => {
    const held = before(steps, at);
    if (held?.state !== 'running' || !agents.has(held.agent_id ?? '')) return [];
    const again = steps.find((s) => s.at > at && s.state === 'running');
    return again === undefined ? [] : [again.at - at];
  });
}

/** Of tasks that waited or were offered then: how long until the next step of each. */
function goesOn({ transitions }: Indexed, at: number): number[] {
  return [...transitions.values()].flatMap((steps) => {
    const was = before(steps, at);
    if (was?.state !== 'queued' && was?.state !== 'offered') return [];
    const next = steps.find((s) => s.at > at);
    return [Math.min(LOOKED_FOR_MS, (next?.at ?? Infinity) - at)];
  });
}

function before(steps: readonly Transition[], at: number): Transition | undefined {
  return steps.findLast((s) => s.at <= at);
}

function figure(what: string, ms: number[]): Recovery {
  const sorted = ms.sort((a, b) => a - b);
  const at = (share: number) =>
    sorted.length === 0 ? null : Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? 0);
  return { what, n: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}
