import { retryDelayMs, type Rng } from '../../src/core/backoff.js';
import { DueQueue } from '../../src/core/due-queue.js';
import { seeded } from '../../src/core/random.js';
import type { SimAgent } from './agent.js';
import { Account } from './account.js';

/** A task on its way. */
export interface SimTask {
  id: number;
  arrivedMs: number;
  attempts: number;
  /** Agents that failed it, the last one last. */
  tried: string[];
  /** Fails wherever it goes. */
  poison: boolean;
}

/** An agent as a dispatcher sees it. */
export interface Candidate {
  readonly agentId: string;
  readonly slots: number;
  inFlight: number;
}

/** One way of choosing agents: what is compared. */
export interface Contender {
  readonly name: string;
  /** Most tasks that may wait, and whether those that are past their deadline are dropped before they are offered. */
  readonly queue?: { limit: number; dropsExpired: boolean } | undefined;
  /** Of those that are there, with room or without. Undefined: the task waits. */
  choose(present: readonly Candidate[], task: SimTask, nowMs: number): Candidate | undefined;
  ended?(agent: Candidate, task: SimTask, call: { startedMs: number; endedMs: number; ok: boolean }): void;
  /** When it would choose otherwise though nothing happened; undefined where never. */
  wakesAtMs?(nowMs: number): number | undefined;
}

export interface Scenario {
  agents: SimAgent[];
  forMs: number;
  /** Open loop: tasks a second; or closed loop: so many callers, each with a task at a time. */
  load: { perSecond: (nowMs: number) => number } | { callers: number };
  /** One in so many tasks is poison. */
  poisonEvery?: number;
  /** After so long a caller does not want the result any more; it is a failure. */
  deadlineMs?: number;
  /** A task that is not answered for so long has failed there. */
  timeoutMs?: number;
  seed?: number;
}

type Event =
  | { kind: 'arrive' }
  | { kind: 'retry'; task: SimTask }
  | { kind: 'end'; task: SimTask; agent: Running; startedMs: number; ok: boolean }
  | { kind: 'wake' };

interface Running extends Candidate {
  sim: SimAgent;
  begun: number;
}

const RETRY = { baseMs: 1000, jitter: 0.05, capMs: 60_000 };
const MOST_ATTEMPTS = 3;

/** Runs a scenario with a contender. The clock is virtual and all chance seeded: the same figures each time. */
export function simulate(scenario: Scenario, contender: Contender): Account {
  return new World(scenario, contender).run();
}

class World {
  private readonly rng: Rng;
  private readonly events = new DueQueue<Event>();
  private readonly agents: Running[];
  private readonly lane: SimTask[] = [];
  private readonly account = new Account();
  private nowMs = 0;
  private nextEvent = 0;
  private nextTask = 0;

  constructor(
    private readonly scenario: Scenario,
    private readonly contender: Contender,
  ) {
    this.rng = seeded(scenario.seed ?? 1);
    this.agents = scenario.agents.map((sim) => ({
      agentId: sim.id,
      slots: sim.slots,
      inFlight: 0,
      sim,
      begun: 0,
    }));
  }

  run(): Account {
    const { load, forMs } = this.scenario;
    const first = 'callers' in load ? load.callers : 1;
    for (let i = 0; i < first; i++) this.at(0, { kind: 'arrive' });
    for (;;) {
      const due = this.events.nextDueMs();
      // What came in time is followed to its end.
      if (due === undefined || due > 2 * forMs) break;
      this.nowMs = due;
      const event = this.events.take(due);
      if (event !== undefined) this.happen(event.item);
      this.place();
    }
    return this.account;
  }

  private at(ms: number, event: Event, key = `${this.nextEvent++}`): void {
    this.events.set(key, event, ms);
  }

  private happen(event: Event): void {
    switch (event.kind) {
      case 'arrive':
        this.arrive();
        return;
      case 'retry':
        this.lane.push(event.task);
        return;
      case 'end':
        this.end(event);
        return;
      case 'wake':
        return;
    }
  }

  private arrive(): void {
    const { load, forMs, poisonEvery } = this.scenario;
    if (this.nowMs >= forMs) return;
    const id = this.nextTask++;
    const poison = poisonEvery !== undefined && id % poisonEvery === 0;
    const task: SimTask = { id, arrivedMs: this.nowMs, attempts: 0, tried: [], poison };
    if (this.lane.length < (this.contender.queue?.limit ?? Infinity)) this.lane.push(task);
    else this.account.refused(task);
    if ('perSecond' in load) {
      const meanMs = 1000 / load.perSecond(this.nowMs);
      this.at(this.nowMs - Math.log(1 - this.rng()) * meanMs, { kind: 'arrive' });
    }
  }

  private place(): void {
    if (this.contender.queue?.dropsExpired === true) this.dropExpired();
    const { nowMs } = this;
    const present = this.agents.filter((a) => a.sim.isGone?.(nowMs) !== true);
    for (let task = this.lane[0]; task !== undefined; task = this.lane[0]) {
      const chosen = this.contender.choose(present, task, nowMs);
      if (chosen === undefined) break;
      this.lane.shift();
      this.offer(task, chosen as Running);
    }
    if (this.lane.length === 0) return;
    const wakeMs = this.contender.wakesAtMs?.(nowMs);
    if (wakeMs !== undefined) this.at(Math.max(wakeMs, nowMs + 1), { kind: 'wake' }, 'wake');
  }

  private isExpired(task: SimTask): boolean {
    return this.nowMs > task.arrivedMs + (this.scenario.deadlineMs ?? Infinity);
  }

  private dropExpired(): void {
    while (this.lane[0] !== undefined && this.isExpired(this.lane[0]))
      this.over(this.lane.shift() as SimTask, false);
  }

  private offer(task: SimTask, agent: Running): void {
    const { nowMs, rng } = this;
    const timeoutMs = this.scenario.timeoutMs ?? 5000;
    agent.inFlight++;
    task.attempts++;
    this.account.offered(agent.agentId, nowMs, agent.sim.isBad?.(nowMs) === true, agent.inFlight);
    const doing = agent.sim.does({ nowMs, inFlight: agent.inFlight, begun: agent.begun++, rng });
    const ok = doing.ok && !task.poison && doing.ms <= timeoutMs;
    this.at(nowMs + Math.min(doing.ms, timeoutMs), { kind: 'end', task, agent, startedMs: nowMs, ok });
  }

  private end({ task, agent, startedMs, ok }: Event & { kind: 'end' }): void {
    agent.inFlight--;
    this.contender.ended?.(agent, task, { startedMs, endedMs: this.nowMs, ok });
    if (!ok) task.tried.push(agent.agentId);
    if (ok) this.over(task, !this.isExpired(task));
    else if (task.attempts >= MOST_ATTEMPTS) this.over(task, false);
    else this.at(this.nowMs + retryDelayMs(task.attempts, RETRY, this.rng), { kind: 'retry', task });
  }

  private over(task: SimTask, ok: boolean): void {
    this.account.ended(task, this.nowMs, ok);
    if ('callers' in this.scenario.load) this.at(this.nowMs, { kind: 'arrive' });
  }
}
