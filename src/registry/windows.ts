import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { newSketch, SlidingWindow, type Sample, type WindowView } from '../core/sliding-window.js';
import { agentKey } from './agent-row.js';
import { ReachTable, type ReachEntry } from './reach-table.js';
import { RegistryEvents } from './registry.events.js';

/** Agents of a group whose latencies are looked at: enough for a P95. */
const GROUP_SAMPLE = 64;
const GROUP_FOR_MS = 5_000;

/** Codes of failures that say something about the agent, rather than about the task or an order of ours. */
const AGENT_FAILURES: ReadonlySet<string> = new Set([
  'ACK_TIMEOUT',
  'EXECUTION_TIMEOUT',
  'AGENT_LOST',
  'AGENT_ERROR',
  'DEPENDENCY_DOWN',
  'CONNECTION_FAILED',
]);

/** A read of a window costs 20 us; one this old is good enough to choose by. */
const FRESH_MS = 100;
/** And one this old where nothing was recorded since. */
const UNCHANGED_FRESH_MS = 5_000;

/** Most capabilities, and combinations of them, that are told apart for one agent: callers name them. */
const MOST_CAPABILITIES = 256;

interface AgentWindows {
  probes?: SlidingWindow;
  work?: SlidingWindow;
  byCapability: Map<string, WorkWindow>;
}

/** What an agent did for one capability. */
class WorkWindow {
  private readonly window = new SlidingWindow();
  private view: WindowView | undefined;
  private readMs = -Infinity;
  private changed = false;

  record(nowMs: number, sample: Sample): void {
    this.window.record(nowMs, sample);
    this.changed = true;
  }

  /**
   * A call that was broken off after so long: it would have taken longer. Above the P95 that tells where it belongs; below,
   * nothing. Were it left out, timeouts that follow the P95 of the calls that met them would close in on them.
   */
  brokenOff(nowMs: number, afterMs: number): void {
    const tells = afterMs > (this.read(nowMs).p95Ms ?? Infinity);
    this.record(nowMs, { ok: false, ...(tells && { latencyMs: afterMs }) });
  }

  read(nowMs: number): WindowView {
    const freshMs = this.changed ? FRESH_MS : UNCHANGED_FRESH_MS;
    if (this.view !== undefined && nowMs - this.readMs < freshMs) return this.view;
    this.view = this.window.read(nowMs);
    this.readMs = nowMs;
    this.changed = false;
    return this.view;
  }
}

/**
 * What agents did of late: light probes, as far as this replica made them, and results of tasks, which all replicas tell
 * each other. In memory alone; after a restart it is seen anew.
 */
@Injectable()
export class Windows implements OnApplicationBootstrap {
  private readonly agents = new Map<string, AgentWindows>();
  private readonly groups = new Map<string, { p95Ms: number | undefined; untilMs: number }>();

  constructor(
    private readonly table: ReachTable,
    private readonly events: RegistryEvents,
  ) {}

  onApplicationBootstrap(): void {
    this.events.listen('changed', (entry) => this.follow(entry));
  }

  /** A light probe (an echo, a ping) of the agent ended. */
  probed(key: string, sample: Sample, nowMs = performance.now()): void {
    const windows = this.of(key);
    if (windows !== undefined) (windows.probes ??= new SlidingWindow()).record(nowMs, sample);
  }

  /**
   * A delivery ended: without a code it succeeded after `ranMs`; with one that is not the agent's, it says nothing.
   * @returns whether it says something
   */
  worked(
    key: string,
    capability: string,
    code: string | undefined,
    ranMs: number | undefined,
    nowMs = performance.now(),
  ): boolean {
    if (code !== undefined && !AGENT_FAILURES.has(code)) return false;
    const windows = this.of(key);
    if (windows === undefined) return false;
    const ok = code === undefined;
    const sample = { ok, ...(ok && ranMs !== undefined && { latencyMs: ranMs }) };
    (windows.work ??= new SlidingWindow()).record(nowMs, sample);
    let one = windows.byCapability.get(capability);
    if (one === undefined && windows.byCapability.size < MOST_CAPABILITIES)
      windows.byCapability.set(capability, (one = new WorkWindow()));
    if (code === 'EXECUTION_TIMEOUT' && ranMs !== undefined) one?.brokenOff(nowMs, ranMs);
    else one?.record(nowMs, sample);
    return true;
  }

  /** What an agent did for a capability, to choose by: up to 100 ms old, 5 s where nothing came since. */
  workFor(key: string, capability: string, nowMs = performance.now()): WindowView | undefined {
    return this.agents.get(key)?.byCapability.get(capability)?.read(nowMs);
  }

  read(
    key: string,
    nowMs = performance.now(),
  ): { probes: WindowView | undefined; work: WindowView | undefined } {
    const windows = this.agents.get(key);
    return { probes: windows?.probes?.read(nowMs), work: windows?.work?.read(nowMs) };
  }

  /**
   * P95 of the light probes of warm agents that share a capability with this one, in ms: the slowest of its
   * capabilities counts. Undefined where no other warm agent was probed. At most 5 s old.
   */
  groupP95Ms(entry: ReachEntry, nowMs = performance.now()): number | undefined {
    const all = [...entry.capabilities.keys()].flatMap(
      (name) => this.capabilityP95Ms(entry, name, nowMs) ?? [],
    );
    return all.length === 0 ? undefined : Math.max(...all);
  }

  private capabilityP95Ms(entry: ReachEntry, name: string, nowMs: number): number | undefined {
    const group = agentKey(entry.namespace, name);
    const known = this.groups.get(group);
    if (known !== undefined && known.untilMs > nowMs) return known.p95Ms;
    const pool = newSketch();
    let left = GROUP_SAMPLE;
    const requirement = { namespace: entry.namespace, capabilities: [{ name }] };
    for (const other of this.table.candidates(requirement)) {
      const probes = other.warmingUp === undefined ? this.agents.get(other.key)?.probes : undefined;
      if (probes === undefined) continue;
      probes.addLatenciesTo(pool, nowMs);
      if (--left === 0) break;
    }
    const p95Ms = pool.count === 0 ? undefined : pool.getValueAtQuantile(0.95);
    this.groups.set(group, { p95Ms, untilMs: nowMs + GROUP_FOR_MS });
    return p95Ms;
  }

  private of(key: string): AgentWindows | undefined {
    const known = this.agents.get(key);
    if (known !== undefined || this.table.get(key) === undefined) return known;
    const windows: AgentWindows = { byCapability: new Map() };
    this.agents.set(key, windows);
    return windows;
  }

  private follow(entry: ReachEntry): void {
    if (this.table.get(entry.key) !== undefined) return;
    this.agents.delete(entry.key);
    for (const name of entry.capabilities.keys()) this.groups.delete(agentKey(entry.namespace, name));
  }
}
