import { deepIntervalMs, type Load } from '../core/deep-ping.js';
import { phaseMs } from '../core/probe-schedule.js';
import type { ProbeResult } from '../core/probe-result.js';
import { UNKNOWN } from '../core/verdict.js';
import type { WarmUp } from '../core/warm-up.js';
import type { ProbeFact } from '../registry/agent-facts.js';
import type { ReachEntry } from '../registry/reach-table.js';
import type { Reporter } from './reporter.js';
import { isUnsettled, type Listener, type Watched } from './watched.js';

/** One way to ask an agent; the deeper it goes, the more an answer says, and the more it costs. */
export interface Layer {
  readonly kind: 'echo' | 'l1' | 'l2' | 'l3';
  readonly intervalMs: () => number;
  /** Whether it may be asked this way now. */
  readonly may: () => boolean;
  readonly probe: (signal: AbortSignal) => Promise<ProbeResult>;
}

/**
 * An agent that is asked whether it answers: over its session, or at its endpoint. Of the layers that are due the
 * deepest one is asked, and after a failure the same again until the verdict is settled: a lighter layer that
 * answers proves nothing about a deeper one that does not.
 */
export class AgentTarget implements Watched {
  readonly id: string;
  readonly label: string;
  readonly intervalMs: number;
  readonly phase: number;
  readonly stretch = 1;
  verdict: ProbeFact;
  told: ProbeFact;
  toldAtMs = -Infinity;
  failingSinceMs = -Infinity;
  /** What the warm-up is at; undefined: it needs none. */
  warmUp: WarmUp | undefined;
  /** The lease it was made for; the entry may have got another meanwhile. */
  readonly leaseId: string;
  private readonly dueMs = new Map<Layer, number>();
  private layer: Layer;
  private readonly listener: Listener;

  /** @param layers from the deepest to the lightest, which sets the pace; one at least */
  constructor(
    readonly entry: ReachEntry,
    readonly host: string | undefined,
    private readonly layers: readonly [...Layer[], Layer],
    private readonly reporter: Reporter,
  ) {
    const { namespace, agentId, leaseId, key } = entry;
    this.leaseId = leaseId;
    this.label = host ?? 'session';
    this.id = `echo ${key} ${leaseId}`;
    this.layer = layers[layers.length - 1] as Layer;
    this.intervalMs = this.layer.intervalMs();
    this.phase = phaseMs(key, this.intervalMs);
    this.listener = { agentKey: key, ref: { namespace, agentId, leaseId }, critical: true };
    this.verdict = this.told = entry.facts.echo ?? UNKNOWN;
    this.warmUp = entry.facts.warmUp;
    const nowMs = performance.now();
    for (const layer of layers) {
      const first = layer === this.layer ? 0 : phaseMs(`${layer.kind} ${key}`, layer.intervalMs());
      this.dueMs.set(layer, nowMs + first);
    }
  }

  get kind(): string {
    return this.layer.kind;
  }

  get rank(): 0 | 1 | 2 {
    return isUnsettled(this.verdict) ? 0 : 1;
  }

  get isWarming(): boolean {
    return this.warmUp !== undefined && !this.warmUp.passed;
  }

  listeners(): Iterable<Listener> {
    return [this.listener];
  }

  async probe(signal: AbortSignal): Promise<ProbeResult> {
    const nowMs = performance.now();
    if (!isUnsettled(this.verdict) && this.verdict.standing !== 'bad') this.layer = this.deepestDue(nowMs);
    const { layer } = this;
    this.dueMs.set(layer, nowMs + layer.intervalMs());
    return layer.probe(signal);
  }

  tell(evidence: Record<string, unknown>): void {
    this.reporter.report('echo', { ref: this.listener.ref, patch: { echo: this.told }, evidence });
  }

  /** It is asked no more: what its last answers were said about a way to it that is gone. */
  forget(): void {
    if (this.told.standing !== 'suspect' && this.told.standing !== 'bad') return;
    this.reporter.report('echo', { ref: this.listener.ref, patch: { echo: UNKNOWN }, evidence: {} });
  }

  tellWarmUp(warmUp: WarmUp): void {
    this.warmUp = warmUp;
    this.reporter.report('warm-up', { ref: this.listener.ref, patch: { warmUp }, evidence: {} });
  }

  private deepestDue(nowMs: number): Layer {
    const lightest = this.layers[this.layers.length - 1] as Layer;
    if (this.isWarming) return lightest;
    return this.layers.find((l) => (this.dueMs.get(l) ?? 0) <= nowMs && l.may()) ?? lightest;
  }
}

/** The interval that holds while nothing is known of the load is the one of an idle agent. */
export function deepMs(intervalMs: number, load: Load | undefined): number {
  return deepIntervalMs(intervalMs, load ?? { poolUsage: 0, queued: 0 }, new Date().getHours());
}
