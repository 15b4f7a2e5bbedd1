import type { BreakerPolicy } from './policy.js';

/**
 * Where a breaker stands. Closed: ordinary work. Open: none. Half open: a few trial calls. Recovering: a part of the
 * usual work.
 */
export type BreakerState =
  | { phase: 'closed' }
  | { phase: 'open'; sinceMs: number }
  | { phase: 'half_open'; sinceMs: number; succeeded: number }
  | { phase: 'recovering'; sinceMs: number };

/** A call that ended, on the monotonic clock of the caller, in ms. */
export interface Call {
  startedMs: number;
  endedMs: number;
  ok: boolean;
}

/** So many calls at least make a share of errors: with fewer, failures running decide. */
const LEAST_CALLS = 10;
/** Agents that a task failed on after which its next failure says nothing about the next agent. */
const SEVERAL = 2;

/**
 * Whose a failure is: once a task failed on several agents, it is the task's; the breaker of the next one is not told.
 * @param failedOn agents that the task failed on before
 */
export function isPoison(failedOn: Iterable<string>, agentId: string): boolean {
  const others = new Set(failedOn);
  others.delete(agentId);
  return others.size >= SEVERAL;
}

/** The state once `nowMs` has come, if nothing ended since. */
function later(state: BreakerState, nowMs: number, policy: BreakerPolicy): BreakerState {
  if (state.phase === 'open' && nowMs >= state.sinceMs + policy.openMs)
    return { phase: 'half_open', sinceMs: state.sinceMs + policy.openMs, succeeded: 0 };
  if (state.phase === 'recovering' && nowMs >= state.sinceMs + policy.recoveryMs) return { phase: 'closed' };
  return state;
}

/**
 * Keeps work from an agent that fails it. Over `errorShare` of the last `window` calls failed, or more than `running` in a
 * row: open, no work. After `openMs` half open: `trials` calls at a time, and as many successes running. One that fails
 * opens it again. Then recovering: for `recoveryMs` it gets `recoveryShare` of what it could do. Calls that began before
 * the agent was back say nothing: they are the same outage. The policy is an argument, since it changes at run time.
 */
export class Breaker {
  private state: BreakerState = { phase: 'closed' };
  private readonly calls = new LastCalls();
  private last: Call | undefined;
  /** Calls that began before are of a former outage. */
  private backMs = -Infinity;
  private openedMs: number | undefined;

  at(nowMs: number, policy: BreakerPolicy): BreakerState {
    this.state = later(this.state, nowMs, policy);
    return this.state;
  }

  /** A call ended. Failures that are not the agent's do not belong here (see `isPoison`). */
  record(call: Call, policy: BreakerPolicy): void {
    const state = this.at(call.endedMs, policy);
    if (call.startedMs < this.backMs) return;
    this.last = call;
    switch (state.phase) {
      case 'open':
        return;
      case 'half_open':
        this.tried(state, call, policy);
        return;
      case 'closed':
      case 'recovering':
        this.calls.add(call.ok, policy.window);
        if (this.calls.areBad(policy)) this.open(call.endedMs, policy);
    }
  }

  private tried(
    state: BreakerState & { phase: 'half_open' },
    { ok, endedMs }: Call,
    policy: BreakerPolicy,
  ): void {
    const succeeded = state.succeeded + 1;
    if (!ok) this.open(endedMs, policy);
    else if (succeeded < policy.trials) this.state = { ...state, succeeded };
    else this.state = { phase: 'recovering', sinceMs: endedMs };
  }

  private open(nowMs: number, policy: BreakerPolicy): void {
    this.state = { phase: 'open', sinceMs: nowMs };
    this.openedMs = nowMs;
    this.backMs = nowMs + policy.openMs;
    this.calls.clear();
  }

  /** How many tasks at a time the agent may hold now, of the `most` that it could; 0 while it is left alone. */
  slots(nowMs: number, most: number, policy: BreakerPolicy): number {
    const state = this.at(nowMs, policy);
    switch (state.phase) {
      case 'closed':
        return most;
      case 'open':
        return 0;
      case 'half_open':
        return Math.min(most, policy.trials);
      case 'recovering':
        return nowMs < this.restsUntilMs(most, policy) ? 0 : partOf(most, policy);
    }
  }

  /**
   * Slots come in whole ones: of a single slot, a fifth is that slot for a fifth of the time. So a recovering agent with
   * more slots than its part rests after each call.
   */
  private restsUntilMs(most: number, policy: BreakerPolicy): number {
    if (this.last === undefined) return -Infinity;
    const ranMs = this.last.endedMs - this.last.startedMs;
    return this.last.endedMs + ranMs * (partOf(most, policy) / (most * policy.recoveryShare) - 1);
  }

  /** Whether the agent gets a part of its work only. */
  isThrottled(nowMs: number, policy: BreakerPolicy): boolean {
    const { phase } = this.at(nowMs, policy);
    return phase === 'half_open' || phase === 'recovering';
  }

  /** Since it opened the last time; undefined where it never did. */
  sinceOpenedMs(nowMs: number): number | undefined {
    return this.openedMs === undefined ? undefined : nowMs - this.openedMs;
  }

  /** When `slots` will say something else though no call ends; undefined where it will not. */
  changesAtMs(nowMs: number, most: number, policy: BreakerPolicy): number | undefined {
    const state = this.at(nowMs, policy);
    if (state.phase === 'open') return state.sinceMs + policy.openMs;
    if (state.phase !== 'recovering') return undefined;
    const restedMs = this.restsUntilMs(most, policy);
    const endMs = state.sinceMs + policy.recoveryMs;
    return nowMs < restedMs ? Math.min(restedMs, endMs) : endMs;
  }
}

function partOf(most: number, policy: BreakerPolicy): number {
  return Math.max(1, Math.floor(most * policy.recoveryShare));
}

/** How the last calls ended: a ring. */
class LastCalls {
  private ring = new Uint8Array(0);
  private next = 0;
  private count = 0;
  private failed = 0;
  private running = 0;

  add(ok: boolean, window: number): void {
    if (this.ring.length !== window) {
      this.clear();
      this.ring = new Uint8Array(window);
    }
    if (this.count === window) this.failed -= this.ring[this.next] ?? 0;
    else this.count++;
    this.ring[this.next] = ok ? 0 : 1;
    this.next = (this.next + 1) % window;
    if (!ok) this.failed++;
    this.running = ok ? 0 : this.running + 1;
  }

  areBad(policy: BreakerPolicy): boolean {
    if (this.running > policy.running) return true;
    const enough = this.count >= Math.min(LEAST_CALLS, policy.window);
    return enough && this.failed > this.count * policy.errorShare;
  }

  clear(): void {
    this.next = 0;
    this.count = 0;
    this.failed = 0;
    this.running = 0;
  }
}
