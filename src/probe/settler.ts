import { Injectable, Logger } from '@nestjs/common';
import { MassChange } from '../core/mass-change.js';
import { CONFIRM_MS, nextDueMs } from '../core/probe-schedule.js';
import type { ProbeResult } from '../core/probe-result.js';
import { storableText, truncate } from '../core/text.js';
import { observe, type Hysteresis } from '../core/verdict.js';
import type { ProbeFact } from '../registry/agent-facts.js';
import type { Ended } from './pacer.js';
import { ProbeMetrics } from './probe-metrics.js';
import { Replicas } from './replicas.js';
import { SelfWatch } from './self-watch.js';
import { differs, isUnsettled, isWorse, type Watched } from './watched.js';

/** Three failures running to go down, two good ones to come back. */
const RULES: Hysteresis = { down: 3, up: 2 };
/** What is not in order is told anew this often, so that whoever takes over goes on counting. */
const TELL_AGAIN_MS = 30_000;
const DETAIL_LIMIT = 500;
/** However many targets fail, we look at ourselves this often at most on their account. */
const LOOK_AGAIN_MS = 200;

/** What a probe's end means: the verdict, who is told, and when the next probe is due. */
@Injectable()
export class Settler {
  private readonly log = new Logger(Settler.name);
  private readonly changes = new Map<string, MassChange>();
  /** When the last look at ourselves found nothing, and when the last one began. */
  private trustedAtMs = -Infinity;
  private lookedAtMs = -Infinity;
  private readonly complained = new Map<string, string>();

  constructor(
    private readonly self: SelfWatch,
    private readonly replicas: Replicas,
    private readonly metrics: ProbeMetrics,
  ) {}

  /**
   * Settles one result.
   * @param watchedIn how many agents of a namespace are under watch here
   * @param stretch factor on the interval, from the shard that is slow or the budget
   * @returns when the target is due again, on the monotonic clock
   */
  settle(target: Watched, ended: Ended, watchedIn: (namespace: string) => number, stretch: number): number {
    const { startedMs } = ended;
    const result = storable(ended.result);
    const nowMs = performance.now();
    this.metrics.probed(target.kind, ended);
    // Neither says anything about the target: we lack what it takes to ask, or are not allowed to.
    if (!result.ok && (result.fault === 'misconfigured' || result.fault === 'address_denied')) {
      this.complain(target, result.detail);
      return this.nextMs(target, startedMs, stretch);
    }
    if (!result.ok && this.self.mayBeOurs(startedMs)) return nowMs + CONFIRM_MS;
    const seq = Math.floor(this.replicas.clockMs() - (nowMs - startedMs));
    const atMs = Math.floor(this.replicas.clockMs());
    const after = observe(target.verdict, { ...outcome(result), seq, atMs }, RULES);
    target.verdict = withSpeed(after, target.verdict, result);
    if (after.failures === 1) target.failingSinceMs = nowMs;
    // Begun with the first failures, so that the look is over by the time that there are enough of them.
    if (after.standing === 'suspect' && after.failures < RULES.down) this.isTrustedSince(target, nowMs);
    if (this.mayTell(target, watchedIn, nowMs)) {
      target.told = target.verdict;
      target.toldAtMs = nowMs;
      target.tell(evidenceOf(target, result, ended.queuedMs, atMs));
    }
    if (isUnsettled(target.verdict) || isWorse(target.verdict, target.told))
      return Math.max(nowMs, startedMs + CONFIRM_MS);
    return this.nextMs(target, startedMs, stretch);
  }

  /** When the target is due at its place in the interval, after the probe at `fromMs` (monotonic). */
  nextMs(target: Watched, fromMs: number, stretch: number): number {
    const offsetMs = this.replicas.clockMs() - performance.now();
    const intervalMs = target.intervalMs * stretch;
    return nextDueMs(fromMs + offsetMs, intervalMs, target.phase * stretch) - offsetMs;
  }

  /** When the target's place in the interval comes next: for one that another replica probed until now. */
  placeMs(target: Watched, nowMs: number): number {
    const { intervalMs, phase } = target;
    const aheadMs = (phase - this.replicas.clockMs()) % intervalMs;
    return nowMs + (aheadMs < 0 ? aheadMs + intervalMs : aheadMs);
  }

  private mayTell(target: Watched, watchedIn: (namespace: string) => number, nowMs: number): boolean {
    const { verdict, told } = target;
    if (!isWorse(verdict, told)) {
      if (verdict.standing === 'good') this.forget(target);
      return (
        differs(verdict, told) || (verdict.standing !== 'good' && nowMs - target.toldAtMs > TELL_AGAIN_MS)
      );
    }
    // A good result on the way back from what was never told is no news.
    if (verdict.failures === 0) return false;
    const mass = this.massOf(target, watchedIn, nowMs);
    if (mass !== undefined) this.self.doubtMass(mass);
    // One failure of a few is told at once: a suspect is spared work, and no more than that.
    if (mass === undefined && verdict.standing !== 'bad') return true;
    // More than that once we have looked at ourselves and found nothing, and one more round said the same.
    return this.isTrustedSince(target, nowMs) && verdict.failures >= 2;
  }

  /** The namespace of which so many agents would turn that it may be us. Each is noted, told or not. */
  private massOf(
    target: Watched,
    watchedIn: (namespace: string) => number,
    nowMs: number,
  ): string | undefined {
    const touched = new Set<string>();
    for (const { ref, agentKey, critical } of target.listeners()) {
      if (!critical) continue;
      touched.add(ref.namespace);
      this.changeIn(ref.namespace).note(agentKey, nowMs);
    }
    return [...touched].find((namespace) => this.changeIn(namespace).isMass(watchedIn(namespace), nowMs));
  }

  /** Whether we have found ourselves well since the target began to fail; looks now if not. */
  private isTrustedSince(target: Watched, nowMs: number): boolean {
    if (this.trustedAtMs >= target.failingSinceMs) return true;
    if (nowMs - this.lookedAtMs >= LOOK_AGAIN_MS) {
      this.lookedAtMs = nowMs;
      void this.self.check().then((well) => {
        if (well) this.trustedAtMs = performance.now();
      });
    }
    return false;
  }

  private forget(target: Watched): void {
    for (const { ref, agentKey } of target.listeners()) this.changes.get(ref.namespace)?.forget(agentKey);
  }

  private changeIn(namespace: string): MassChange {
    let change = this.changes.get(namespace);
    if (change === undefined) this.changes.set(namespace, (change = new MassChange()));
    return change;
  }

  /** Once for each reason: it is for an operator to put right, and the probes go on. */
  private complain(target: Watched, detail: string): void {
    if (this.complained.get(target.id) === detail) return;
    if (this.complained.size > 10_000) this.complained.clear();
    this.complained.set(target.id, detail);
    this.log.warn({ msg: `${target.kind} cannot be probed: ${detail}`, target: target.label });
  }
}

function outcome(result: ProbeResult): { ok: boolean; fault?: string; detail?: string } {
  return result.ok ? { ok: true } : { ok: false, fault: result.fault, detail: result.detail };
}

function withSpeed(verdict: ProbeFact, before: ProbeFact, result: ProbeResult): ProbeFact {
  if (result.ok)
    return { ...verdict, latencyMs: round(result.latencyMs), ...(result.slow && { slow: true }) };
  return before.latencyMs === undefined ? verdict : { ...verdict, latencyMs: before.latencyMs };
}

/** What others answered, as the database takes it. */
function storable(result: ProbeResult): ProbeResult {
  if (result.detail === undefined) return result;
  return { ...result, detail: truncate(storableText(result.detail), DETAIL_LIMIT) };
}

/** What the history keeps of the probe. */
function evidenceOf(
  target: Watched,
  result: ProbeResult,
  queuedMs: number,
  atMs: number,
): Record<string, unknown> {
  return {
    probe: {
      kind: target.kind,
      target: target.label,
      at: new Date(atMs).toISOString(),
      ok: result.ok,
      ...(!result.ok && { fault: result.fault }),
      ...(result.detail !== undefined && { detail: result.detail }),
      latency_ms: round(result.latencyMs),
      queued_ms: round(queuedMs),
      failures: target.verdict.failures,
    },
  };
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
