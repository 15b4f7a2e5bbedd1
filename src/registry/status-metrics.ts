import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AGENT_STATES } from '../core/agent-state.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { ReachTable } from './reach-table.js';
import { RegistryEvents } from './registry.events.js';

/** The label of all agents beyond the limit, and of all namespaces whose agents are beyond it. */
const OTHERS = '(others)';

/**
 * How agents are, for alarms: a series for each agent up to `REACH_STATUS_METRIC_AGENTS` of them, and five for all
 * others together, so that series do not grow with the fleet. Agents that an operator holds are left out: they are no
 * reason for alarm.
 */
@Injectable()
export class StatusMetrics implements OnApplicationBootstrap {
  private readonly changes;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly table: ReachTable,
    private readonly events: RegistryEvents,
    metrics: Metrics,
  ) {
    this.changes = metrics.counter(
      'reach_status_changes_total',
      'Changes of agents’ states that this replica committed',
      ['from', 'to'],
    );
    metrics.gauge(
      'reach_status',
      'Agents by state, as this replica sees them: 1 for the state that an agent is in; held ones are left out',
      ['namespace', 'agent', 'state'],
      (gauge) => {
        gauge.reset();
        for (const { labels, count } of this.series()) gauge.set(labels, count);
      },
    );
  }

  onApplicationBootstrap(): void {
    this.events.on('transition', ({ from, to, here }) => {
      if (here) this.changes.inc({ from: from ?? 'unknown', to });
    });
  }

  private series() {
    const others = new Map<string, number>(AGENT_STATES.map((state) => [state, 0]));
    const all: { labels: { namespace: string; agent: string; state: string }; count: number }[] = [];
    // The table keeps the order in which agents became known: who has a series of its own keeps it.
    for (const { namespace, agentId: agent, state, hold } of this.table.all()) {
      if (hold !== undefined) continue;
      if (all.length < this.config.statusMetricAgents)
        all.push({ labels: { namespace, agent, state }, count: 1 });
      else others.set(state, (others.get(state) ?? 0) + 1);
    }
    for (const [state, count] of others)
      if (count > 0) all.push({ labels: { namespace: OTHERS, agent: OTHERS, state }, count });
    return all;
  }
}
