import { Injectable } from '@nestjs/common';
import { newId } from '../../platform/ids.js';
import type { ReachError } from '../../core/errors.js';
import type { SqlRunner } from '../../platform/postgres/sql.js';
import { Admission } from '../admission.js';
import { type Admitted, AdmissionStore, type NewTask } from '../admission.store.js';
import { Depths } from '../depths.js';
import { Orders } from '../orders.js';
import { SchedulerMetrics } from '../scheduler-metrics.js';
import { scheduledTask, type ScheduledTask } from './schedule.wire.js';

/** Tasks that a schedule submits: as others, but inserted by the transaction that notes the firing. */
@Injectable()
export class ScheduledTasks {
  constructor(
    private readonly admission: Admission,
    private readonly store: AdmissionStore,
    private readonly depths: Depths,
    private readonly orders: Orders,
    private readonly metrics: SchedulerMetrics,
  ) {}

  /** @throws ReachError for what the door would refuse */
  prepare(namespace: string, task: ScheduledTask): NewTask {
    return this.admission.prepare({ ...scheduledTask.parse(task), namespace }, {});
  }

  /** The same task, `count` times. @throws as `prepare` */
  prepareMany(namespace: string, task: ScheduledTask, count: number): NewTask[] {
    const first = this.prepare(namespace, task);
    return Array.from({ length: count }, (_, i) => (i === 0 ? first : { ...first, id: newId() }));
  }

  /** Takes places for tasks of one lane: as many as there are, for the first of them. */
  async reserve(tasks: readonly NewTask[]): Promise<number> {
    const [first] = tasks;
    if (first === undefined) return 0;
    const granted = await this.depths.reserve(first.lane, tasks.length);
    if (granted < tasks.length) this.metrics.laneFull(tasks.length - granted);
    return granted;
  }

  /** The error for tasks that found no place. */
  full(task: NewTask): ReachError {
    return this.depths.full(task.lane);
  }

  /** Gives the places back: the tasks were not stored. */
  giveBack(tasks: readonly NewTask[]): void {
    for (const task of tasks) this.depths.add(task.lane, -1);
  }

  insert(tx: SqlRunner, tasks: readonly NewTask[]): Promise<Admitted[]> {
    return tasks.length === 0 ? Promise.resolve([]) : this.store.addWithin(tx, tasks);
  }

  /** They are committed: has them placed. Where this is lost, the backlog sweep does it. */
  announce(tasks: readonly NewTask[], admitted: readonly Admitted[]): void {
    tasks.forEach((task, i) => {
      const it = admitted[i];
      if (it?.added !== true) return;
      this.metrics.accepted(task.capability);
      if (it.state === 'queued') this.orders.place(task.lane);
      if (it.deadlineInMs !== null) this.orders.deadline(it.deadlineInMs);
    });
  }
}
