import { Breaker, isPoison, type Call } from '../../src/core/breaker.js';
import { eligibleOf, slotsOf, type Candidate as CoreCandidate } from '../../src/core/eligibility.js';
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

/** Reading a window costs more than choosing by it. */
const FRESH_MS = 100;
const REQUIREMENT = { namespace: 'default', capabilities: [{ name: 'work' }] };

/** An agent as the core sees it. */
class Known implements CoreCandidate {
  readonly name = 'simulated';
  readonly namespace = 'default';
  readonly capabilities = new Map([['work', undefined]]);
  readonly tags = [];
  readonly zone = undefined;
  readonly endpoint = undefined;
  readonly state = 'online';
  readonly stateReason = '';
  readonly criticalDown = undefined;
  readonly warmingUp = undefined;
  readonly hold = undefined;
  readonly weight = 100;
  readonly window = new SlidingWindow();
  readonly breaker: Breaker;
  nowMs = 0;
  /** A read of the window, good for `FRESH_MS`. */
  private view: WindowView | undefined;
  private readMs = -Infinity;

  constructor(
    readonly candidate: Candidate,
    policy: Policy,
  ) {
    this.breaker = new Breaker(policy.breaker);
  }

  get agentId(): string {
    return this.candidate.agentId;
  }

  get maxConcurrency(): number {
    return this.candidate.slots;
  }

  get inFlight(): number {
    return this.candidate.inFlight;
  }

  get ejected(): string | undefined {
    return this.breaker.ejection(this.nowMs);
  }

  get throttled(): boolean {
    return this.breaker.isThrottled(this.nowMs);
  }

  get allowed(): number {
    return this.breaker.slots(this.nowMs, this.maxConcurrency);
  }

  input(panic: boolean): ScoreInput {
    const { nowMs, breaker, agentId, inFlight, weight, throttled } = this;
    if (nowMs - this.readMs > FRESH_MS) {
      this.view = this.window.read(nowMs);
      this.readMs = nowMs;
    }
    const { view } = this;
    return {
      agentId,
      successRate: view?.successRate,
      p50Ms: view?.p50Ms,
      p95Ms: view?.p95Ms,
      consecutiveFailures: view?.consecutiveFailures ?? 0,
      idleMs: 0,
      inFlight,
      maxConcurrency: Math.max(1, slotsOf(this, panic)),
      weight,
      sinceSeriousFailureMs: breaker.sinceSeriousFailureMs(nowMs),
      throttled,
    };
  }
}

/** The real core: eligibility, windows, breakers and a policy. */
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
    const known = present.map((c) => this.known(c, nowMs));
    const { agents, panic } = eligibleOf(known, REQUIREMENT, this.policy.panic);
    const candidates = freshest(agents, task.tried);
    const inputs = { length: candidates.length, at: (i: number) => candidates[i]?.input(panic) };
    const seed = Math.floor(this.rng() * 2 ** 32);
    const selection = choose(inputs, this.policy, { seed, turn: this.turn });
    for (const [id, value] of selection?.turn ?? []) this.turn.set(id, value);
    return selection && candidates[selection.index]?.candidate;
  }

  ended(candidate: Candidate, task: SimTask, call: Call): void {
    const { agentId } = candidate;
    const { startedMs, endedMs, ok } = call;
    const elsewhere = new Set(task.tried.filter((id) => id !== agentId)).size;
    if (!ok && isPoison(elsewhere)) return;
    const { window, breaker } = this.known(candidate, endedMs);
    window.record(endedMs, ok ? { ok, latencyMs: endedMs - startedMs } : { ok });
    const before = breaker.at(endedMs).phase;
    breaker.record(call);
    const opened = before !== 'open' && breaker.at(endedMs).phase === 'open';
    if (opened) this.opened.set(agentId, (this.opened.get(agentId) ?? 0) + 1);
  }

  wakesAtMs(nowMs: number): number | undefined {
    const times = [...this.agents.values()].flatMap(
      ({ breaker, maxConcurrency }) => breaker.changesAtMs(nowMs, maxConcurrency) ?? [],
    );
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** How well an agent does now, by its window. */
  scoreOf(agentId: string, nowMs: number): number | undefined {
    const view = this.agents.get(agentId)?.window.read(nowMs);
    return view && reachScore(view, this.policy.targetLatencyMs);
  }

  private known(candidate: Candidate, nowMs: number): Known {
    let known = this.agents.get(candidate.agentId);
    if (known === undefined) this.agents.set(candidate.agentId, (known = new Known(candidate, this.policy)));
    known.nowMs = nowMs;
    return known;
  }
}
