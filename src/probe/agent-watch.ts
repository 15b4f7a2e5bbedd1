import { Inject, Injectable } from '@nestjs/common';
import { hasRoomForPing, type Load } from '../core/deep-ping.js';
import { ownerOf, type Member } from '../core/ownership.js';
import { CONFIRM_MS, Spacing } from '../core/probe-schedule.js';
import { COLD, warmedBy } from '../core/warm-up.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import type { ReachEntry } from '../registry/reach-table.js';
import { Windows } from '../registry/windows.js';
import { AgentTarget, deepMs, type Layer } from './agent-target.js';
import { EchoPort } from './echo-port.js';
import { EndpointLayers } from './endpoint-layers.js';
import type { Ended } from './pacer.js';
import { Reporter } from './reporter.js';
import { Settler } from './settler.js';
import { isUnsettled } from './watched.js';

/** The word with which an agent says that it answers echoes. */
const FEATURE = 'echo';
const DEEP_TIMEOUT_MS = 20_000;
/** First echoes, and warm-up echoes, start at this rate at most, over all agents here. */
const QUICK_PER_SECOND = 1000;
/** Between two warm-up echoes of one agent. */
const WARM_UP_GAP_MS = 50;
/** Agents that all answer faster than this are as fast as one another: what differs is the way to them. */
const LEAST_GROUP_MS = 100;
/** Default pace of echoes: so many heartbeat intervals. */
const ECHO_BEATS = 3;

/** Where targets are scheduled; the engine's pacer. */
export interface Schedule {
  schedule(target: AgentTarget, dueMs: number): void;
  remove(id: string): void;
}

/**
 * Which agents are asked whether they answer: over the sessions that end here, and at the endpoints that are this
 * replica's share.
 */
@Injectable()
export class AgentWatch {
  private readonly targets = new Map<string, AgentTarget>();
  private readonly quick = new Spacing();
  private live: readonly Member[] = [];
  private schedule: Schedule | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly port: EchoPort,
    private readonly endpoints: EndpointLayers,
    private readonly windows: Windows,
    private readonly reporter: Reporter,
    private readonly settler: Settler,
  ) {}

  connect(schedule: Schedule): void {
    this.schedule = schedule;
  }

  setLive(live: readonly Member[]): void {
    this.live = live;
  }

  /** The agent is as `entry` says; undefined: it is gone, or nothing of it is to be probed. */
  follow(key: string, entry: ReachEntry | undefined): void {
    const known = this.targets.get(key);
    const wanted = entry !== undefined && (this.hasSession(entry) || this.isShare(entry));
    if (wanted && known?.leaseId === entry.leaseId) return;
    if (known !== undefined) this.remove(key, known);
    if (wanted) this.add(entry);
  }

  /**
   * What a result that counts means for the agent's windows and its warm-up.
   * @returns when the next warm-up echo is due, or undefined
   */
  counted(target: AgentTarget, { result }: Ended): number | undefined {
    const { key } = target.entry;
    // A deep ping lasts as long as the agent's tool does: that is no measure of how fast it answers.
    if (target.kind !== 'l3')
      this.windows.probed(key, { ok: result.ok, ...(result.ok && { latencyMs: result.latencyMs }) });
    if (!target.isWarming || isUnsettled(target.verdict)) return undefined;
    if (result.ok) {
      const groupMs = this.windows.groupP95Ms(target.entry);
      const groupP95Ms = groupMs === undefined ? undefined : Math.max(groupMs, LEAST_GROUP_MS);
      const rules = { probes: this.config.warmUpProbes, groupP95Ms };
      const after = warmedBy(target.warmUp ?? COLD, result.latencyMs, rules);
      if (after.passed) {
        target.tellWarmUp(after);
        return undefined;
      }
      target.warmUp = after;
    }
    return this.quick.slotMs(performance.now() + WARM_UP_GAP_MS, QUICK_PER_SECOND);
  }

  private hasSession(entry: ReachEntry): boolean {
    return entry.features.includes(FEATURE) && this.port.has(entry.key, entry.leaseId);
  }

  private isShare(entry: ReachEntry): boolean {
    if (entry.transport !== 'push' || entry.endpoint === undefined) return false;
    return ownerOf(`endpoint ${entry.key}`, this.live, entry.zone) === this.config.replicaId;
  }

  private add(entry: ReachEntry): void {
    const target = this.hasSession(entry) ? this.atSession(entry) : this.atEndpoint(entry);
    if (target === undefined) return;
    this.targets.set(entry.key, target);
    this.schedule?.schedule(target, this.firstMs(target));
  }

  private firstMs(target: AgentTarget): number {
    const nowMs = performance.now();
    // Over a session the first echo costs nothing; endpoints of many agents may be one host's.
    if (target.isWarming || (target.verdict.standing === 'unknown' && target.host === undefined))
      return this.quick.slotMs(nowMs, QUICK_PER_SECOND);
    return isUnsettled(target.verdict) ? nowMs + CONFIRM_MS : this.settler.placeMs(target, nowMs);
  }

  private remove(key: string, target: AgentTarget): void {
    this.targets.delete(key);
    this.schedule?.remove(target.id);
    target.forget();
  }

  private atSession(entry: ReachEntry): AgentTarget {
    const { key, heartbeatIntervalMs } = entry;
    const { echoIntervalMs, echoTimeoutMs, probeIntervalL3Ms } = this.config;
    const load = () => loadOf(this.port.load(key));
    const echo: Layer = {
      kind: 'echo',
      intervalMs: () => echoIntervalMs || ECHO_BEATS * heartbeatIntervalMs,
      may: () => true,
      probe: () => this.port.echo(key, false, echoTimeoutMs),
    };
    const deep: Layer = {
      kind: 'l3',
      intervalMs: () => deepMs(probeIntervalL3Ms, load()),
      may: () => hasRoomForPing(load()),
      probe: () => this.port.echo(key, true, DEEP_TIMEOUT_MS),
    };
    return new AgentTarget(entry, undefined, [deep, echo], this.reporter);
  }

  private atEndpoint(entry: ReachEntry): AgentTarget | undefined {
    const at = this.endpoints.of(entry, entry.features.includes(FEATURE));
    return at === undefined ? undefined : new AgentTarget(entry, at.host, at.layers, this.reporter);
  }
}

function loadOf(reported: ReturnType<EchoPort['load']>): Load | undefined {
  if (reported?.pool_usage === undefined) return undefined;
  return { poolUsage: reported.pool_usage, queued: reported.queued ?? 0 };
}
