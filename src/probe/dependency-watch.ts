import { Inject, Injectable, Logger } from '@nestjs/common';
import { CONFIRM_MS, Spacing } from '../core/probe-schedule.js';
import { planOf, type Plan } from '../core/probe-budget.js';
import { ownerOf, type Member } from '../core/ownership.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import type { DeclaredDependency } from '../registry/agent-facts.js';
import { ReachTable, type ReachEntry } from '../registry/reach-table.js';
import { Probers } from './probers/probers.js';
import { Reporter } from './reporter.js';
import { Settler } from './settler.js';
import { idOf, SharedTarget, type Probing, type Subscription } from './shared-target.js';
import { differs, isUnsettled } from './watched.js';

/** First probes of dependencies that are new here start at this rate, or as fast as all of them come round. */
const NEWCOMERS_PER_SECOND = 50;

/** Sorting tens of thousands of targets is not for every heartbeat. */
const PLAN_EVERY_MS = 5000;

/** Where targets are scheduled; the engine's pacer. */
export interface Schedule {
  schedule(target: SharedTarget, dueMs: number): void;
  remove(id: string): void;
  hasten(target: SharedTarget): void;
}

interface Followed {
  /** What the subscriptions were made of. */
  sign: string;
  subscriptions: { target: SharedTarget; subscription: Subscription }[];
}

/** Which dependencies there are, who shares them, and which of them this replica probes. */
@Injectable()
export class DependencyWatch {
  private readonly log = new Logger(DependencyWatch.name);
  private readonly targets = new Map<string, SharedTarget>();
  private readonly agents = new Map<string, Followed>();
  private readonly newcomers = new Spacing();
  private live: readonly Member[] = [];
  private planned: Plan = { full: undefined, stretch: 1 };
  private plannedAtMs = -Infinity;
  private zones = new Set<string>();
  private schedule: Schedule | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly table: ReachTable,
    private readonly probers: Probers,
    private readonly reporter: Reporter,
    private readonly settler: Settler,
  ) {}

  connect(schedule: Schedule): void {
    this.schedule = schedule;
  }

  all(): Iterable<SharedTarget> {
    return this.targets.values();
  }

  /** The agent is as `entry` says; undefined: it is gone, or nothing of it is to be probed. */
  follow(key: string, entry: ReachEntry | undefined): void {
    const known = this.agents.get(key);
    if (entry === undefined || entry.dependencies.length === 0) {
      if (known !== undefined) this.drop(key, known);
      return;
    }
    const zone = entry.zone !== undefined && this.zones.has(entry.zone) ? entry.zone : undefined;
    const sign = JSON.stringify([entry.leaseId, zone, entry.dependencies]);
    if (known?.sign !== sign) {
      const followed = { sign, subscriptions: this.subscriptionsOf(entry, zone) };
      for (const { target, subscription } of followed.subscriptions) this.join(target, subscription);
      // After joining: a target that both share goes on without a break.
      if (known !== undefined) this.drop(key, known);
      this.agents.set(key, followed);
    }
    this.catchUp(key);
  }

  /** The replicas that share the probing are these now: targets change hands. All agents are to be followed anew. */
  setLive(live: readonly Member[]): void {
    this.live = live;
    this.zones = new Set(live.map((m) => m.zone).filter((zone) => zone !== undefined));
    for (const target of this.targets.values()) this.assign(target);
  }

  /** The dependency of an agent (undefined: each of its dependencies) is probed soon, where that is up to this replica. */
  hasten(agentKey: string, dependency: string | undefined): void {
    for (const { target, subscription } of this.agents.get(agentKey)?.subscriptions ?? [])
      if (target.owned && (dependency === undefined || dependency === subscription.dependency))
        this.schedule?.hasten(target);
  }

  /** Says which dependencies are probed in full and which are sampled. */
  plan(): Plan {
    const nowMs = performance.now();
    if (nowMs - this.plannedAtMs < PLAN_EVERY_MS) return this.planned;
    this.plannedAtMs = nowMs;
    const { probeFullTargets, dependencyIntervalMs } = this.config;
    this.planned = planOf(
      this.table.size,
      [...this.targets.values()],
      probeFullTargets,
      dependencyIntervalMs,
    );
    const { full, stretch } = this.planned;
    for (const target of this.targets.values())
      target.stretch = full === undefined || full.has(target.id) ? 1 : stretch;
    return this.planned;
  }

  private subscriptionsOf(entry: ReachEntry, zone: string | undefined): Followed['subscriptions'] {
    const made: Followed['subscriptions'] = [];
    for (const declared of entry.dependencies) {
      const probing = this.probingOf(declared, zone, entry);
      if (probing === undefined) continue;
      const { namespace, agentId, leaseId } = entry;
      const subscription: Subscription = {
        entry,
        agentKey: entry.key,
        ref: { namespace, agentId, leaseId },
        dependency: declared.name,
        critical: declared.critical,
        timeoutMs: declared.timeout_ms,
      };
      made.push({ target: this.targetOf(probing), subscription });
    }
    return made;
  }

  private probingOf(
    declared: DeclaredDependency,
    zone: string | undefined,
    entry: ReachEntry,
  ): Probing | undefined {
    const prober = this.probers.get(declared.type);
    // Without a target it is only a name, for people to read.
    if (prober === undefined || typeof declared.target !== 'string') return undefined;
    try {
      const target = prober.parse(declared);
      const label = `${declared.type} ${declared.target}`;
      return { type: declared.type, prober, target, key: prober.keyOf(target), label, zone };
    } catch (err) {
      const msg = `dependency ${declared.name} of agent ${entry.agentId} cannot be read, and is not probed`;
      this.log.warn({ msg, namespace: entry.namespace, agent_id: entry.agentId, err });
      return undefined;
    }
  }

  private targetOf(probing: Probing): SharedTarget {
    const id = idOf(probing);
    let target = this.targets.get(id);
    if (target === undefined) {
      const { dependencyIntervalMs, connectTimeoutMs } = this.config;
      target = new SharedTarget(probing, dependencyIntervalMs, connectTimeoutMs, this.reporter);
      this.targets.set(id, target);
    }
    return target;
  }

  private join(target: SharedTarget, subscription: Subscription): void {
    target.subscribe(subscription);
    this.assign(target);
  }

  private drop(key: string, followed: Followed): void {
    this.agents.delete(key);
    for (const { target, subscription } of followed.subscriptions) {
      target.unsubscribe(subscription);
      if (target.size > 0) continue;
      this.targets.delete(target.id);
      this.release(target);
    }
  }

  /** An agent that shares what is known already is told at once. */
  private catchUp(key: string): void {
    for (const { target, subscription } of this.agents.get(key)?.subscriptions ?? []) {
      if (!target.owned || target.told.standing === 'unknown') continue;
      const known = subscription.entry.facts.dependencies?.[subscription.dependency];
      if (known === undefined || (known.seq < target.told.seq && differs(known, target.told)))
        target.tellOne(subscription, { shared: target.id });
    }
  }

  private assign(target: SharedTarget): void {
    const mine = ownerOf(target.id, this.live, target.zone) === this.config.replicaId;
    if (mine && !target.owned) this.adopt(target);
    else if (!mine && target.owned) this.release(target);
  }

  private adopt(target: SharedTarget): void {
    target.owned = true;
    target.takeOver();
    const nowMs = performance.now();
    const { verdict } = target;
    if (verdict.standing === 'unknown')
      this.schedule?.schedule(target, this.newcomers.slotMs(nowMs, this.newcomersPerSecond));
    else if (isUnsettled(verdict)) this.schedule?.schedule(target, nowMs + CONFIRM_MS);
    else this.schedule?.schedule(target, this.settler.placeMs(target, nowMs));
  }

  private release(target: SharedTarget): void {
    if (!target.owned) return;
    target.owned = false;
    this.schedule?.remove(target.id);
  }

  private get newcomersPerSecond(): number {
    return Math.max(NEWCOMERS_PER_SECOND, (this.targets.size * 1000) / this.config.dependencyIntervalMs);
  }
}
