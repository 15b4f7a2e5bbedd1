import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * The metrics of this process. A label never holds an id, a path or a caller's text: the number of series
 * must not grow with traffic.
 */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** The counter of that name; made at the first call. */
  counter<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return this.once(name, () => new Counter({ name, help, labelNames, registers: [this.registry] }));
  }

  /** The gauge of that name; made at the first call. `collect` sets it right before each scrape. */
  gauge<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    collect?: (gauge: Gauge<L>) => void | Promise<void>,
  ): Gauge<L> {
    return this.once(name, () => {
      const gauge: Gauge<L> = new Gauge({
        name,
        help,
        labelNames,
        registers: [this.registry],
        ...(collect ? { collect: (): void | Promise<void> => collect(gauge) } : {}),
      });
      return gauge;
    });
  }

  /** The histogram of that name; made at the first call. Durations are in seconds, as Prometheus asks. */
  histogram<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    buckets: number[] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60],
  ): Histogram<L> {
    return this.once(
      name,
      () => new Histogram({ name, help, labelNames, buckets, registers: [this.registry] }),
    );
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** The text that Prometheus scrapes. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  private once<T>(name: string, make: () => T): T {
    return (this.registry.getSingleMetric(name) as T | undefined) ?? make();
  }
}
