import type { BreakerPolicy } from './policy.js';

/**
 * Where a breaker stands. Closed: ordinary work. Open: none. Half open: a few trial calls. Recovering: a part of the
 * usual work.
 */
export type BreakerState =
  | { phase: 'closed' }
  | { phase: 'open'; sinceMs: number; cause: string }
  | { phase: 'half_open'; sinceMs: number; succeeded: number }
  | { phase: 'recovering'; sinceMs: number };

/** A call that ended, on the monotonic clock of the caller, in ms. */
export interface Call {
  startedMs: number;
  endedMs: number;
  ok: boolean;
}

/** Agents that a task failed on after which its next failure says nothing about the next agent. */
const SEVERAL = 2;

/**
 * Whose a failure is: once a task failed on several agents, it is the task's; the breaker of the next one is not told.
 * @param elsewhere on how many other agents it was tried before
 */
export function isPoison(elsewhere: number): boolean {
  return elsewhere >= SEVERAL;
}

/** Losses of an agent within this time are one. */
const ONE_LOSS_MS = 1000;

/**
 * Keeps work from an agent that fails it. Over `errorShare` of the last `window` calls failed, or more than `running` in a
 * row: open, no work. After `openMs` half open: `trials` calls at a time, and as many successes running. One that fails
 * opens it again. Then recovering: for `recoveryMs` it gets `recoveryShare` of what it could do. Calls that began before
 * the agent was back say nothing: they are the same outage. The policy can change with each call.
 */
export class Breaker {
  private state: BreakerState = { phase: 'closed' };
  private readonly calls = new LastCalls();
  private last: Call | undefined;
  /** Calls that began before are of a former outage. */
  private backMs = -Infinity;
  private seriousMs: number | undefined;

  constructor(private policy: BreakerPolicy) {}

  /** True whatever the time is. */
  get isClosed(): boolean {
    return this.state.phase === 'closed';
  }

  at(nowMs: number): BreakerState {
    const { state, policy } = this;
    if (state.phase === 'open' && nowMs >= state.sinceMs + policy.openMs)
      this.state = { phase: 'half_open', sinceMs: state.sinceMs + policy.openMs, succeeded: 0 };
    if (state.phase === 'recovering' && nowMs >= state.sinceMs + policy.recoveryMs)
      this.state = { phase: 'closed' };
    return this.state;
  }

  /** A call ended. Failures that are not the agent's do not belong here (see `isPoison`). */
  record(call: Call, policy = this.policy): void {
    this.policy = policy;
    const state = this.at(call.endedMs);
    if (call.startedMs < this.backMs) return;
    this.last = call;
    switch (state.phase) {
      case 'open':
        return;
      case 'half_open':
        this.tried(state, call);
        return;
      case 'closed':
      case 'recovering':
        this.calls.add(call.ok, policy.window);
        this.openFor(this.calls.verdict(policy), call.endedMs);
    }
  }

  /**
   * The agent was lost with what it held: a serious failure, but one failed call, however many tasks it took with it. One
   * that crashes again and again opens the breaker.
   */
  lost(nowMs: number, policy = this.policy): void {
    const before = this.seriousMs ?? -Infinity;
    this.seriousMs = nowMs;
    if (nowMs - before >= ONE_LOSS_MS) this.record({ startedMs: nowMs, endedMs: nowMs, ok: false }, policy);
  }

  private tried(state: BreakerState & { phase: 'half_open' }, { ok, endedMs }: Call): void {
    const succeeded = state.succeeded + 1;
    if (!ok) this.openFor('a trial call failed', endedMs);
    else if (succeeded < this.policy.trials) this.state = { ...state, succeeded };
    else this.state = { phase: 'recovering', sinceMs: endedMs };
  }

  private openFor(cause: string | undefined, nowMs: number): void {
    if (cause === undefined) return;
    this.state = { phase: 'open', sinceMs: nowMs, cause };
    this.seriousMs = nowMs;
    this.backMs = nowMs + this.policy.openMs;
    this.calls.clear();
  }

  /** How many tasks at a time the agent may hold now, of the `most` that it could; 0 while it is left alone. */
  slots(nowMs: number, most: number): number {
    switch (this.at(nowMs).phase) {
      case 'closed':
        return most;
      case 'open':
        return 0;
      case 'half_open':
        return Math.min(most, this.policy.trials);
      case 'recovering':
        return nowMs < this.restsUntilMs(most) ? 0 : this.partOf(most);
    }
  }

  /**
   * Slots come in whole ones: of a single slot, a fifth is that slot for a fifth of the time. So a recovering agent whose
   * part is less than a slot rests after each call.
   */
  private restsUntilMs(most: number): number {
    if (this.last === undefined) return -Infinity;
    const ranMs = this.last.endedMs - this.last.startedMs;
    return this.last.endedMs + ranMs * (this.partOf(most) / (most * this.policy.recoveryShare) - 1);
  }

  private partOf(most: number): number {
    return Math.max(1, Math.floor(most * this.policy.recoveryShare));
  }

  /** Whether the agent gets a part of its work only. */
  isThrottled(nowMs: number): boolean {
    const { phase } = this.at(nowMs);
    return phase === 'half_open' || phase === 'recovering';
  }

  /** Since it opened the last time, or the agent was lost; undefined where neither ever was. */
  sinceSeriousFailureMs(nowMs: number): number | undefined {
    return this.seriousMs === undefined ? undefined : nowMs - this.seriousMs;
  }

  /** Why it gets no work at all; undefined where it may have some. */
  ejection(nowMs: number): string | undefined {
    const state = this.at(nowMs);
    if (state.phase !== 'open') return undefined;
    const leftMs = state.sinceMs + this.policy.openMs - nowMs;
    return `${state.cause}; it is tried again in ${Math.ceil(leftMs / 1000)} s`;
  }

  /** When `slots` will say something else though no call ends; undefined where it will not. */
  changesAtMs(nowMs: number, most: number): number | undefined {
    const state = this.at(nowMs);
    if (state.phase === 'open') return state.sinceMs + this.policy.openMs;
    if (state.phase !== 'recovering') return undefined;
    const restedMs = this.restsUntilMs(most);
    const endMs = state.sinceMs + this.policy.recoveryMs;
    return nowMs < restedMs ? Math.min(restedMs, endMs) : endMs;
  }
}

/** How the last calls ended: a ring, as long as the longest window that was asked for. */
class LastCalls {
  private ring = new Uint8Array(0);
  private next = 0;
  private count = 0;
  private running = 0;

  add(ok: boolean, window: number): void {
    if (this.ring.length < window) this.grow(window);
    const length = this.ring.length;
    if (this.count < length) this.count++;
    this.ring[this.next] = ok ? 0 : 1;
    this.next = (this.next + 1) % length;
    this.running = ok ? 0 : this.running + 1;
  }

  /** What is wrong with them, if it is enough. */
  verdict({ running, window, leastCalls, errorShare }: BreakerPolicy): string | undefined {
    if (this.running > running) return `${this.running} calls running failed`;
    const calls = Math.min(this.count, window);
    if (calls < Math.min(leastCalls, window)) return undefined;
    const failed = this.failed(calls);
    return failed > calls * errorShare ? `${failed} of the last ${calls} calls failed` : undefined;
  }

  clear(): void {
    this.next = 0;
    this.count = 0;
    this.running = 0;
  }

  /** Counted each time: a tenth of a microsecond for a hundred, and policies may look at different lengths in turn. */
  private failed(calls: number): number {
    const { ring, next } = this;
    let failed = 0;
    for (let i = 1; i <= calls; i++) failed += ring[(next - i + ring.length) % ring.length] ?? 0;
    return failed;
  }

  private grow(window: number): void {
    const { ring, next, count } = this;
    this.ring = new Uint8Array(window);
    for (let i = 0; i < count; i++) this.ring[i] = ring[(next - count + i + ring.length) % ring.length] ?? 0;
    this.next = count % window;
  }
}
