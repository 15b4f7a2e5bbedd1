import { Injectable } from '@nestjs/common';
import { wireCode } from '../core/errors.js';
import { laneLabel, requirementOf } from '../core/lane.js';
import { ReachTable } from '../registry/reach-table.js';
import { AGENT_STATES } from '../core/agent-state.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { Sessions } from './transports/sessions.js';

/** Capabilities beyond this many share one series: names come from callers, and series must stay few. */
const MOST_CAPABILITIES = 200;
const OTHER = 'other';
const WAIT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Phases in which a breaker keeps work from its agent. */
const KEEPING = ['open', 'half_open', 'recovering'];

/** What the scheduler counts. Counters are of this replica; Prometheus adds replicas up. */
@Injectable()
export class SchedulerMetrics {
  private readonly capabilities = new Set<string>();
  private readonly tasks;
  private readonly queueWait;
  private readonly runtime;
  private readonly ackLatency;
  private readonly panics;
  private readonly redispatches;
  private readonly fenced;
  private readonly rejected;
  private readonly dedupHits;
  private readonly queued;

  constructor(metrics: Metrics, table: ReachTable, sessions: Sessions) {
    this.tasks = metrics.counter('reach_tasks_total', 'Tasks by the state they came to', [
      'capability',
      'state',
      'code',
    ]);
    this.queueWait = metrics.histogram(
      'reach_task_queue_wait_seconds',
      'From the time a task could start to its offer',
      ['capability'],
      WAIT_BUCKETS,
    );
    this.runtime = metrics.histogram(
      'reach_task_runtime_seconds',
      'From the ACK to the result',
      ['capability'],
      WAIT_BUCKETS,
    );
    this.panics = metrics.counter(
      'reach_panic_offers_total',
      'Offers to agents that failed of late, since nobody was in good standing',
      ['capability'],
    );
    this.ackLatency = metrics.histogram(
      'reach_ack_latency_seconds',
      'From the offer to the ACK',
      [],
      WAIT_BUCKETS,
    );
    this.redispatches = metrics.counter('reach_redispatch_total', 'Attempts that were followed by another', [
      'reason',
    ]);
    this.fenced = metrics.counter(
      'reach_late_results_fenced_total',
      'ACKs and results that were not current',
      ['op'],
    );
    this.rejected = metrics.counter(
      'reach_inbox_rejected_total',
      'Tasks refused because their lane was full',
    );
    this.dedupHits = metrics.counter('reach_dedup_hits_total', 'Submits answered by an idempotency key');
    this.queued = metrics.gauge(
      'reach_tasks_waiting',
      'Tasks that wait for an agent or for their time; every replica tells the whole',
      ['capability'],
    );
    fleetGauges(metrics, table, sessions);
  }

  accepted(capability: string): void {
    this.tasks.inc({ capability: this.series(capability), state: 'accepted', code: '' });
  }

  /** @param depths how many tasks wait, by lane */
  waiting(depths: ReadonlyMap<string, number>): void {
    this.queued.reset();
    for (const [lane, depth] of depths)
      this.queued.inc({ capability: this.series(laneLabel(requirementOf(lane))) }, depth);
  }

  deduplicated(): void {
    this.dedupHits.inc();
  }

  laneFull(tasks: number): void {
    this.rejected.inc(tasks);
  }

  offered(capability: string, waitedMs: number, panic: boolean): void {
    this.queueWait.observe({ capability: this.series(capability) }, Math.max(0, waitedMs) / 1000);
    if (panic) this.panics.inc({ capability: this.series(capability) });
  }

  acknowledged(afterMs: number): void {
    this.ackLatency.observe(Math.max(0, afterMs) / 1000);
  }

  ended(capability: string, state: string, code: string | undefined): void {
    this.tasks.inc({
      capability: this.series(capability),
      state,
      code: code === undefined ? '' : wireCode(code),
    });
  }

  ran(capability: string, ms: number): void {
    this.runtime.observe({ capability: this.series(capability) }, Math.max(0, ms) / 1000);
  }

  redispatched(code: string): void {
    this.redispatches.inc({ reason: wireCode(code) });
  }

  late(op: 'ack' | 'complete' | 'fail' | 'progress'): void {
    this.fenced.inc({ op });
  }

  private series(capability: string): string {
    if (this.capabilities.has(capability)) return capability;
    if (this.capabilities.size >= MOST_CAPABILITIES) return OTHER;
    this.capabilities.add(capability);
    return capability;
  }
}

/** How the fleet is, as this replica sees it. */
function fleetGauges(metrics: Metrics, table: ReachTable, sessions: Sessions): void {
  metrics.gauge('reach_agents', 'Agents by state', ['state'], (gauge) => {
    const counts = new Map<string, number>(AGENT_STATES.map((state) => [state, 0]));
    for (const entry of table.all()) counts.set(entry.state, (counts.get(entry.state) ?? 0) + 1);
    for (const [state, count] of counts) gauge.set({ state }, count);
  });
  metrics.gauge('reach_breakers', 'Agents that get less work for their failures', ['phase'], (gauge) => {
    const counts = new Map<string, number>(KEEPING.map((phase) => [phase, 0]));
    const nowMs = performance.now();
    for (const { breaker } of table.all()) {
      const { phase } = breaker.at(nowMs);
      if (phase !== 'closed') counts.set(phase, (counts.get(phase) ?? 0) + 1);
    }
    for (const [phase, count] of counts) gauge.set({ phase }, count);
  });
  metrics.gauge('reach_sessions', 'Agent sessions on this replica', [], (gauge) => gauge.set(sessions.size));
}
