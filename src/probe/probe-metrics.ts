import { Injectable } from '@nestjs/common';
import { Metrics } from '../platform/telemetry/metrics.js';
import type { Ended } from './pacer.js';

const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 20];

/** What the prober counts; labels are layers, types of dependencies and faults, of which there are few. */
@Injectable()
export class ProbeMetrics {
  private readonly duration;
  private readonly failures;
  private readonly queued;

  constructor(private readonly metrics: Metrics) {
    this.duration = metrics.histogram(
      'reach_probe_duration_seconds',
      'Time a probe took, without the wait for its start',
      ['layer'],
      BUCKETS,
    );
    this.failures = metrics.counter('reach_probe_failures_total', 'Probes that failed, by fault', [
      'layer',
      'kind',
    ]);
    this.queued = metrics.histogram(
      'reach_probe_queue_seconds',
      'How long probes that were due waited in the prober',
      [],
      BUCKETS,
    );
  }

  probed(layer: string, { result, queuedMs }: Ended): void {
    this.duration.observe({ layer }, result.latencyMs / 1000);
    this.queued.observe(queuedMs / 1000);
    if (!result.ok) this.failures.inc({ layer, kind: result.fault });
  }

  /** Gauges of the engine, read at each scrape. */
  watch(read: () => { targets: number; inFlight: number; stretch: number; replicas: number }): void {
    const gauge = (name: string, help: string, value: keyof ReturnType<typeof read>) =>
      this.metrics.gauge(name, help, [], (g) => g.set(read()[value]));
    gauge('reach_probe_targets', 'Targets that this replica probes', 'targets');
    gauge('reach_probes_in_flight', 'Probes under way', 'inFlight');
    gauge('reach_probe_stretch', 'Factor by which the slowest shard stretches its intervals', 'stretch');
    gauge('reach_replicas', 'Replicas that share the probing', 'replicas');
  }
}
