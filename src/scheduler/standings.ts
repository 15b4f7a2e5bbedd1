import { Injectable } from '@nestjs/common';
import { slotsOf } from '../core/eligibility.js';
import type { ScoreInput } from '../core/score.js';
import type { Inputs } from '../core/selection.js';
import type { Taken } from '../core/timeouts.js';
import type { ReachEntry } from '../registry/reach-table.js';
import { Windows } from '../registry/windows.js';

/** What choices know of the agents: how they did of late, and how busy they are. */
@Injectable()
export class Standings {
  constructor(private readonly windows: Windows) {}

  /**
   * What is kept of a decision is this, so it is rounded already.
   * @param kind the capability that is asked for
   * @param panic breakers limit nobody
   */
  inputOf(entry: ReachEntry, kind: string, panic: boolean): ScoreInput {
    const nowMs = performance.now();
    const work = this.windows.workFor(entry.key, kind, nowMs);
    const sinceMs = entry.breaker.sinceSeriousFailureMs(nowMs);
    const input: ScoreInput = {
      agentId: entry.agentId,
      consecutiveFailures: work?.consecutiveFailures ?? 0,
      // Whoever may have work has a fresh heartbeat. How long ago it worked says nothing: it would go on having none.
      idleMs: 0,
      inFlight: entry.inFlight,
      maxConcurrency: Math.max(1, slotsOf(entry, panic)),
      weight: entry.weight,
    };
    if (work?.successRate !== undefined) input.successRate = Math.round(work.successRate * 1000) / 1000;
    if (work?.p50Ms !== undefined) input.p50Ms = Math.round(work.p50Ms);
    if (work?.p95Ms !== undefined) input.p95Ms = Math.round(work.p95Ms);
    if (sinceMs !== undefined) input.sinceSeriousFailureMs = Math.round(sinceMs);
    if (entry.throttled) input.throttled = true;
    return input;
  }

  /** How long it took of late for this kind of work. */
  takenOf(entry: ReachEntry, kind: string): Taken {
    const work = this.windows.workFor(entry.key, kind);
    return { p95Ms: work?.p95Ms, calls: work?.succeeded ?? 0 };
  }

  /** Of many, for one choice: reads those alone that are looked at, and each once. */
  inputsOf(candidates: readonly ReachEntry[], kind: string, panic: boolean): Inputs {
    const read = new Map<number, ScoreInput>();
    return {
      length: candidates.length,
      at: (index) => {
        const known = read.get(index);
        const entry = candidates[index];
        if (known !== undefined || entry === undefined) return known;
        const input = this.inputOf(entry, kind, panic);
        read.set(index, input);
        return input;
      },
    };
  }
}
