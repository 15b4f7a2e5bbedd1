import { type Log } from '../embedded/log.js';
import { type Partitions } from './partitions.js';

export interface RetainedTable {
  readonly table: string;
  /** SQL condition: a partition with such a row is kept, however old. */
  readonly keepWhile?: string;
}

/** What outlives its retention: a task that has not ended, and the closed deliveries of one. */
export const RETAINED: Readonly<Record<string, string>> = {
  tasks: 'finished_at IS NULL',
  deliveries: 'EXISTS (SELECT FROM tasks t WHERE t.id = task_id AND t.finished_at IS NULL)',
};

export interface PartitionKeeperOptions {
  readonly tables: readonly RetainedTable[];
  readonly retentionDays: number;
  readonly daysAhead: number;
  readonly everyMs: number;
  readonly rng: () => number;
  readonly log: Log;
}

/** Keeps partitions ahead of time and drops old ones, now and then, in any replica. */
export class PartitionKeeper {
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private round: Promise<void> = Promise.resolve();

  constructor(
    private readonly partitions: Partitions,
    private readonly options: PartitionKeeperOptions,
  ) {}

  /** Makes the partitions of the coming days, then comes back every `everyMs`, give or take a quarter. */
  async start(): Promise<void> {
    await this.ensure();
    this.schedule();
  }

  /** Ends after the round that is under way. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.round;
  }

  private schedule(): void {
    if (this.stopped) return;
    const { everyMs, rng } = this.options;
    this.timer = setTimeout(
      () => {
        this.round = this.keep().finally(() => this.schedule());
      },
      everyMs * (0.75 + rng() / 2),
    );
    this.timer.unref();
  }

  private async ensure(): Promise<void> {
    await this.partitions.ensure(
      this.options.tables.map(({ table }) => table),
      this.options.daysAhead,
    );
  }

  /** One round; what fails is tried again in the next one, and rows are safe in the default partition. */
  private async keep(): Promise<void> {
    const { tables, retentionDays, log } = this.options;
    try {
      await this.ensure();
      for (const { table, keepWhile } of tables) {
        await this.partitions.dropOlderThan(table, retentionDays, keepWhile);
      }
    } catch (error) {
      log.warn({ err: error }, 'The partitions could not be looked after; the next round will');
    }
  }
}
