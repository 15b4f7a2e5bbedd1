import { phaseMs } from '../core/probe-schedule.js';
import { UNKNOWN } from '../core/verdict.js';
import type { ProbeFact } from '../registry/agent-facts.js';
import type { ReachEntry } from '../registry/reach-table.js';
import type { ProbeResult } from '../core/probe-result.js';
import type { Prober } from './prober.js';
import type { Reporter } from './reporter.js';
import { isUnsettled, type Listener, type Watched } from './watched.js';

/** An agent that declares the dependency, under the name that it gives it. */
export interface Subscription extends Listener {
  readonly entry: ReachEntry;
  readonly dependency: string;
  readonly timeoutMs: number;
}

/** How a dependency is probed, read from what one agent declared. */
export interface Probing {
  readonly type: string;
  readonly prober: Prober<unknown>;
  readonly target: unknown;
  readonly key: string;
  /** What is asked, for people. */
  readonly label: string;
  readonly zone: string | undefined;
}

/** A dependency, probed once for all agents that share it. */
export class SharedTarget implements Watched {
  readonly id: string;
  readonly kind: string;
  readonly label: string;
  readonly host: string;
  readonly zone: string | undefined;
  readonly phase: number;
  stretch = 1;
  verdict: ProbeFact = UNKNOWN;
  told: ProbeFact = UNKNOWN;
  toldAtMs = -Infinity;
  failingSinceMs = -Infinity;
  /** Whether this replica probes it. */
  owned = false;
  private readonly subscriptions = new Map<string, Subscription>();
  private criticals = 0;
  private timeoutMs = 0;

  constructor(
    private readonly probing: Probing,
    readonly intervalMs: number,
    private readonly connectTimeoutMs: number,
    private readonly reporter: Reporter,
  ) {
    this.id = idOf(probing);
    this.label = probing.label;
    this.kind = probing.type;
    this.host = `${probing.type} ${probing.prober.hostOf(probing.target)}`;
    this.zone = probing.zone;
    this.phase = phaseMs(this.id, intervalMs);
  }

  get rank(): 0 | 1 | 2 {
    if (isUnsettled(this.verdict)) return 0;
    return this.isCritical ? 1 : 2;
  }

  get isCritical(): boolean {
    return this.criticals > 0;
  }

  get size(): number {
    return this.subscriptions.size;
  }

  listeners(): Iterable<Subscription> {
    return this.subscriptions.values();
  }

  subscribe(subscription: Subscription): void {
    this.subscriptions.set(nameOf(subscription), subscription);
    this.count();
  }

  unsubscribe(subscription: Subscription): void {
    const name = nameOf(subscription);
    if (this.subscriptions.get(name) === subscription) this.subscriptions.delete(name);
    this.count();
  }

  /** Takes over what was found before: the newest that any of the agents was told. */
  takeOver(): void {
    for (const { entry, dependency } of this.subscriptions.values()) {
      const fact = entry.facts.dependencies?.[dependency];
      if (fact !== undefined && fact.seq > this.verdict.seq) this.verdict = fact;
    }
    this.told = this.verdict;
  }

  probe(signal: AbortSignal): Promise<ProbeResult> {
    const totalMs = this.timeoutMs;
    const limits = { connectMs: Math.min(this.connectTimeoutMs, totalMs), firstByteMs: totalMs, totalMs };
    return this.probing.prober.probe(this.probing.target, limits, signal);
  }

  tell(evidence: Record<string, unknown>): void {
    for (const subscription of this.subscriptions.values()) this.tellOne(subscription, evidence);
  }

  /** One agent is told what was told to all. */
  tellOne({ ref, dependency }: Subscription, evidence: Record<string, unknown>): void {
    const patch = { dependencies: { [dependency]: this.told } };
    this.reporter.report(`dependency ${dependency}`, { ref, patch, evidence: { dependency, ...evidence } });
  }

  private count(): void {
    this.criticals = 0;
    this.timeoutMs = 0;
    for (const { critical, timeoutMs } of this.subscriptions.values()) {
      if (critical) this.criticals += 1;
      // The most patient one counts: the others are told that it is slow by their own calls.
      this.timeoutMs = Math.max(this.timeoutMs, timeoutMs);
    }
  }
}

/** Targets with one id are one thing, seen from one place. */
export function idOf({ zone, type, key }: Probing): string {
  return zone === undefined ? `${type} ${key}` : `${zone}: ${type} ${key}`;
}

function nameOf({ agentKey, dependency }: Subscription): string {
  return `${agentKey}\u0000${dependency}`;
}
