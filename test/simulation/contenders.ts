import { Breaker, isPoison } from '../../src/core/breaker.js';
import { DEFAULT_POLICY, type Policy } from '../../src/core/policy.js';
import { seeded } from '../../src/core/random.js';
import { reachScore, type ScoreInput } from '../../src/core/score.js';
import { choose, freshest } from '../../src/core/selection.js';
import { SlidingWindow, type WindowView } from '../../src/core/sliding-window.js';
import type { Candidate, Contender, SimTask } from './world.js';

const hasRoom = (c: Candidate): boolean => c.inFlight < c.slots;

/** What many systems do: any agent with room; unbounded: any agent, which holds whatever it is sent. */
export function random({ bounded = true } = {}): Contender {
  const rng = seeded(99);
  return {
    name: bounded ? 'random' : 'random, unbounded',
    choose(present) {
      const open = bounded ? present.filter(hasRoom) : present;
      return open[Math.floor(rng() * open.length)];
    },
  };
}

export function roundRobin(): Contender {
  let last = -1;
  return {
    name: 'round robin',
    choose(present) {
      for (let i = 1; i <= present.length; i++) {
        const at = (last + i) % present.length;
        const candidate = present[at];
        if (candidate === undefined || !hasRoom(candidate)) continue;
        last = at;
        return candidate;
      }
      return undefined;
    },
  };
}

/** The smallest share of slots in use; between equals by chance. */
export function leastLoaded(): Contender {
  const rng = seeded(98);
  return {
    name: 'least loaded',
    choose(present) {
      const open = present.filter(hasRoom);
      const least = Math.min(...open.map((c) => c.inFlight / c.slots));
      const equals = open.filter((c) => c.inFlight / c.slots === least);
      return equals[Math.floor(rng() * equals.length)];
    },
  };
}

interface Known {
  window: SlidingWindow;
  breaker: Breaker;
  slots: number;
  /** A read of the window, good for `FRESH_MS`. */
  view?: WindowView;
  readMs: number;
}

/** Reading a window costs more than choosing by it. */
const FRESH_MS = 100;

/** The real core: windows, breakers and a policy. */
export class Placement implements Contender {
  private readonly agents = new Map<string, Known>();
  private readonly turn = new Map<string, number>();
  private readonly rng = seeded(97);
  readonly policy: Policy;
  readonly queue: Contender['queue'];
  /** How often a breaker opened, by agent. */
  readonly opened = new Map<string, number>();

  constructor(
    readonly name: string,
    policy: Partial<Policy> = {},
    { limit = Infinity } = {},
  ) {
    this.policy = { ...DEFAULT_POLICY, targetLatencyMs: 200, ...policy };
    this.queue = { limit, dropsExpired: true };
  }

  choose(present: readonly Candidate[], task: SimTask, nowMs: number): Candidate | undefined {
    const usable = present.filter((c) => this.slots(c, nowMs) > 0);
    const panic = usable.length === 0 && this.policy.panic;
    const open = (panic ? present : usable).filter(
      (c) => c.inFlight < (panic ? c.slots : this.slots(c, nowMs)),
    );
    const candidates = freshest(open, task.tried);
    const inputs = {
      length: candidates.length,
      at: (i: number) => candidates[i] && this.inputOf(candidates[i], panic, nowMs),
    };
    const seed = Math.floor(this.rng() * 2 ** 32);
    const selection = choose(inputs, this.policy, { seed, turn: this.turn });
    for (const [id, value] of selection?.turn ?? []) this.turn.set(id, value);
    return selection && candidates[selection.index];
  }

  ended(
    { agentId }: Candidate,
    task: SimTask,
    call: { startedMs: number; endedMs: number; ok: boolean },
  ): void {
    const known = this.agents.get(agentId);
    if (known === undefined || (!call.ok && isPoison(task.tried, agentId))) return;
    const { startedMs, endedMs, ok } = call;
    known.window.record(endedMs, ok ? { ok, latencyMs: endedMs - startedMs } : { ok });
    const before = known.breaker.at(endedMs, this.policy.breaker).phase;
    known.breaker.record(call, this.policy.breaker);
    const opened = before !== 'open' && this.phaseOf(agentId, endedMs) === 'open';
    if (opened) this.opened.set(agentId, (this.opened.get(agentId) ?? 0) + 1);
  }

  wakesAtMs(nowMs: number): number | undefined {
    const times = [...this.agents.values()].flatMap(
      ({ breaker, slots }) => breaker.changesAtMs(nowMs, slots, this.policy.breaker) ?? [],
    );
    return times.length === 0 ? undefined : Math.min(...times);
  }

  phaseOf(agentId: string, nowMs: number): string | undefined {
    return this.agents.get(agentId)?.breaker.at(nowMs, this.policy.breaker).phase;
  }

  /** How well an agent does now, by its window. */
  scoreOf(agentId: string, nowMs: number): number | undefined {
    const view = this.agents.get(agentId)?.window.read(nowMs);
    return view && reachScore(view, this.policy.targetLatencyMs);
  }

  private slots(candidate: Candidate, nowMs: number): number {
    return this.known(candidate).breaker.slots(nowMs, candidate.slots, this.policy.breaker);
  }

  private known({ agentId, slots }: Candidate): Known {
    let known = this.agents.get(agentId);
    if (known === undefined) {
      known = { window: new SlidingWindow(), breaker: new Breaker(), slots, readMs: -Infinity };
      this.agents.set(agentId, known);
    }
    return known;
  }

  private inputOf(candidate: Candidate, panic: boolean, nowMs: number): ScoreInput {
    const known = this.known(candidate);
    if (nowMs - known.readMs > FRESH_MS) {
      known.view = known.window.read(nowMs);
      known.readMs = nowMs;
    }
    const { breaker, view } = known;
    return {
      agentId: candidate.agentId,
      successRate: view?.successRate,
      p50Ms: view?.p50Ms,
      p95Ms: view?.p95Ms,
      consecutiveFailures: view?.consecutiveFailures ?? 0,
      idleMs: view?.lastActivityMs === undefined ? undefined : nowMs - view.lastActivityMs,
      inFlight: candidate.inFlight,
      maxConcurrency: panic ? candidate.slots : this.slots(candidate, nowMs),
      weight: 100,
      sinceSeriousFailureMs: breaker.sinceOpenedMs(nowMs),
      throttled: breaker.isThrottled(nowMs, this.policy.breaker),
    };
  }
}
