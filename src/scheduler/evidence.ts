import { Injectable } from '@nestjs/common';
import { isPoison } from '../core/breaker.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { ReachTable, type ReachEntry } from '../registry/reach-table.js';
import { Windows } from '../registry/windows.js';
import { Lanes } from './lanes.js';
import { Policies } from './policy/policies.js';

/** The end of a delivery, as what it says of the agent. */
export interface Ended {
  /** of the agent */
  key: string;
  capability: string;
  /** Without one it succeeded. */
  code?: string | undefined;
  /** From its ACK, or its offer where there was none, in ms. */
  tookMs?: number | undefined;
  /** On how many other agents the task was tried before. */
  elsewhere?: number | undefined;
}

/** Failures before the task began: no task causes those. */
const BEFORE_WORK: ReadonlySet<string> = new Set(['ACK_TIMEOUT', 'CONNECTION_FAILED']);

/**
 * What the ends of deliveries say of agents: their windows and breakers. Every replica is told of every end, so each
 * comes to the same verdict; how many trial calls an agent gets is bounded by its slots, which all replicas share.
 */
@Injectable()
export class Evidence {
  private readonly comebacks = new Map<ReachEntry, NodeJS.Timeout>();

  constructor(
    private readonly table: ReachTable,
    private readonly windows: Windows,
    private readonly lanes: Lanes,
    private readonly policies: Policies,
    shutdown: Shutdown,
  ) {
    shutdown.on('drain', 'breakers', () => this.stop());
  }

  /** @param nowMs monotonic */
  ended({ key, capability, code, tookMs, elsewhere = 0 }: Ended, nowMs = performance.now()): void {
    const entry = this.table.get(key);
    if (entry === undefined) return;
    if (code !== undefined && !BEFORE_WORK.has(code) && isPoison(elsewhere)) return;
    if (!this.windows.worked(key, capability, code, tookMs, nowMs)) return;
    const { breaker } = this.policies.ofKind(entry.namespace, capability).policy;
    if (code === 'AGENT_LOST') entry.breaker.lost(nowMs, breaker);
    else {
      const call = { startedMs: nowMs - (tookMs ?? 0), endedMs: nowMs, ok: code === undefined };
      entry.breaker.record(call, breaker);
    }
    if (!entry.breaker.isClosed) this.followUp(entry, nowMs);
  }

  /** Lanes that wait are looked at when time alone lets the agent have work again. */
  private followUp(entry: ReachEntry, nowMs: number): void {
    clearTimeout(this.comebacks.get(entry));
    this.comebacks.delete(entry);
    const atMs = entry.breaker.changesAtMs(nowMs, entry.maxConcurrency);
    if (atMs === undefined || this.table.get(entry.key) !== entry) return;
    const timer = setTimeout(
      () => {
        this.lanes.wakeFor(entry);
        this.followUp(entry, performance.now());
      },
      Math.ceil(atMs - nowMs),
    );
    this.comebacks.set(entry, timer.unref());
  }

  private stop(): void {
    for (const timer of this.comebacks.values()) clearTimeout(timer);
    this.comebacks.clear();
  }
}
