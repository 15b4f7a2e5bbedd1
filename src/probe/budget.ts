import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { ownerOf, type Member } from '../core/ownership.js';
import { rateOf, type Plan, type Rate } from '../core/probe-budget.js';
import { HOST_GAP_MS } from '../core/probe-schedule.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { ReachTable, type ReachEntry } from '../registry/reach-table.js';
import { DependencyWatch } from './dependency-watch.js';
import type { probeBudget } from './probe.wire.js';
import { Replicas } from './replicas.js';
import type { SharedTarget } from './shared-target.js';

const MOST_HOSTS = 20;

type Answer = Omit<z.input<typeof probeBudget>, 'this_replica'>;

/** What probing costs all replicas together, reckoned from the agents that this one knows of. */
@Injectable()
export class Budget {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly table: ReachTable,
    private readonly dependencies: DependencyWatch,
    private readonly replicas: Replicas,
  ) {}

  /** The arithmetic as it stands now. */
  state(): Answer {
    const agents = [...this.table.all()].filter((entry) => isProbed(entry));
    const targets = [...this.dependencies.all()];
    const plan = this.dependencies.plan();
    const rates = [...this.dependencyRates(targets, plan), ...this.agentRates(agents)];
    const declared = agents.reduce((sum, entry) => sum + entry.dependencies.length, 0);
    const { dependencyIntervalMs } = this.config;
    const perSecond = rates.reduce((sum, rate) => sum + rate.perSecond, 0);
    const unshared = declared - targets.length;
    const full = plan.full?.size ?? targets.length;
    return {
      agents: agents.length,
      declared_dependencies: declared,
      distinct_targets: targets.length,
      per_second: round(perSecond),
      unshared_per_second: round(perSecond + (unshared * 1000) / dependencyIntervalMs),
      rates: rates.map((r) => ({
        kind: r.kind,
        targets: r.targets,
        interval_ms: round(r.intervalMs),
        per_second: round(r.perSecond),
      })),
      arithmetic: rates.map(sentence),
      sampling: {
        active: plan.full !== undefined,
        full_targets: full,
        sampled_targets: targets.length - full,
        sampled_interval_ms: Math.round(dependencyIntervalMs * plan.stretch),
      },
      crowded_hosts: crowded(targets, dependencyIntervalMs),
      replicas: shares(targets, this.replicas.live()),
    };
  }

  private dependencyRates(targets: readonly SharedTarget[], plan: Plan): Rate[] {
    const { dependencyIntervalMs } = this.config;
    const kinds = new Map<string, { full: number; sampled: number }>();
    for (const { kind, id } of targets) {
      const count = kinds.get(kind) ?? { full: 0, sampled: 0 };
      if (plan.full === undefined || plan.full.has(id)) count.full += 1;
      else count.sampled += 1;
      kinds.set(kind, count);
    }
    return [...kinds].flatMap(([kind, { full, sampled }]) => [
      ...(full > 0 ? [rateOf(kind, full, dependencyIntervalMs)] : []),
      ...(sampled > 0 ? [rateOf(`${kind} (sampled)`, sampled, dependencyIntervalMs * plan.stretch)] : []),
    ]);
  }

  private agentRates(agents: readonly ReachEntry[]): Rate[] {
    const { echoIntervalMs, probeIntervalL1Ms, probeIntervalL2Ms, probeIntervalL3Ms } = this.config;
    const echoing = agents.filter((a) => a.transport !== 'push' && a.features.includes('echo'));
    const pushed = agents.filter((a) => a.transport === 'push');
    const deep = agents.filter((a) => a.transport !== 'pull' && a.features.includes('echo')).length;
    const byInterval = new Map<number, number>();
    for (const { heartbeatIntervalMs } of echoing) {
      const intervalMs = echoIntervalMs || 3 * heartbeatIntervalMs;
      byInterval.set(intervalMs, (byInterval.get(intervalMs) ?? 0) + 1);
    }
    return [
      ...[...byInterval].map(([intervalMs, count]) => rateOf('echo', count, intervalMs)),
      ...(pushed.length > 0 ? [rateOf('l1', pushed.length, probeIntervalL1Ms)] : []),
      ...(pushed.length > 0 ? [rateOf('l2', pushed.length, probeIntervalL2Ms)] : []),
      ...(deep > 0 ? [rateOf('l3', deep, probeIntervalL3Ms)] : []),
    ];
  }
}

function isProbed(entry: ReachEntry): boolean {
  return entry.state !== 'offline' && entry.state !== 'removing';
}

function sentence({ kind, targets, intervalMs, perSecond }: Rate): string {
  return `${targets} x ${kind}, each once in ${round(intervalMs / 1000)} s: ${round(perSecond)} a second`;
}

function crowded(targets: readonly SharedTarget[], intervalMs: number): Answer['crowded_hosts'] {
  const hosts = new Map<string, number>();
  for (const { host } of targets) hosts.set(host, (hosts.get(host) ?? 0) + 1);
  return [...hosts]
    .filter(([, count]) => count * HOST_GAP_MS > intervalMs)
    .sort((a, b) => b[1] - a[1])
    .slice(0, MOST_HOSTS)
    .map(([host, count]) => ({ host, targets: count, interval_ms: count * HOST_GAP_MS }));
}

function shares(targets: readonly SharedTarget[], live: readonly Member[]): Answer['replicas'] {
  const counts = new Map(live.map((m) => [m.replicaId, 0]));
  for (const { id, zone } of targets) {
    const owner = ownerOf(id, live, zone);
    if (owner !== undefined) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  return live.map(({ replicaId, zone }) => ({
    replica_id: replicaId,
    ...(zone !== undefined && { zone }),
    targets: counts.get(replicaId) ?? 0,
  }));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
