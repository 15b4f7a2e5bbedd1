import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { CronProblem, CronTimes } from '../../core/cron.js';
import { ReachError } from '../../core/errors.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { failpoint } from '../../platform/lifecycle/failpoints.js';
import { Shutdown } from '../../platform/lifecycle/shutdown.js';
import { Ticker } from '../../platform/lifecycle/ticker.js';
import type { SqlRunner } from '../../platform/postgres/sql.js';
import type { Admitted, NewTask } from '../admission.store.js';
import { type FiringPlan, firingOf, planFirings } from './firing-plan.js';
import { dueTime } from './schedule-times.js';
import { type Firing, type Move, type ScheduleRow, ScheduleStore } from './schedule.store.js';
import { ScheduledTasks } from './scheduled-tasks.js';

const BATCH = 50;
/** A schedule whose lane is full, or whose fire time waits for a task to end, is looked at again after this. */
const AGAIN_MS = 1000;
/** One that cannot be understood any more (say its time zone is gone) is looked at again after this. */
const BROKEN_AGAIN_MS = 60_000;

/** What a round does with one schedule. */
interface Step {
  firings: Firing[];
  tasks: NewTask[];
  move: Move;
}

interface Round {
  looked: number;
  stored: NewTask[];
  admitted: Admitted[];
}

/**
 * Fires schedules. Every replica looks; the lock of its row gives each due schedule to one, and one transaction notes the
 * firing, stores the task and moves the schedule on: after a crash all of it happened, or nothing. Due is what the ledger's
 * clock says.
 */
@Injectable()
export class ScheduleFiring implements OnApplicationBootstrap {
  private readonly log = new Logger(ScheduleFiring.name);
  private readonly ticker: Ticker;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly store: ScheduleStore,
    private readonly tasks: ScheduledTasks,
    shutdown: Shutdown,
  ) {
    this.ticker = new Ticker('schedules', config.sweepIntervalMs, () => this.fireDue());
    shutdown.on('intake', 'schedules', () => this.ticker.stop());
  }

  onApplicationBootstrap(): void {
    this.ticker.start();
  }

  private async fireDue(): Promise<void> {
    while ((await this.round()) === BATCH);
  }

  /** Fires some of those that are due; how many schedules it looked at. */
  private async round(): Promise<number> {
    /** Tasks that hold a place in their lane. */
    const seated: NewTask[] = [];
    let round: Round;
    try {
      round = await this.store.transaction((tx) => this.fireOn(tx, seated));
      if (round.stored.length > 0) failpoint('fire_after_commit');
    } catch (error) {
      this.tasks.giveBack(seated);
      throw error;
    }
    this.tasks.giveBack(seated.filter((task) => !round.stored.includes(task)));
    this.tasks.announce(round.stored, round.admitted);
    return round.looked;
  }

  private async fireOn(tx: SqlRunner, seated: NewTask[]): Promise<Round> {
    const rows = await this.store.due(tx, BATCH);
    if (rows.length === 0) return { looked: 0, stored: [], admitted: [] };
    const single = rows.filter((row) => row.overlap !== 'allow');
    const busy = await this.store.busy(tx, single);
    const steps: Step[] = [];
    for (const row of rows) {
      const step = await this.stepOf(row, busy.has(row));
      seated.push(...step.tasks);
      steps.push(step);
    }
    const noted = await this.store.note(
      tx,
      steps.flatMap((step) => step.firings),
    );
    // A fire time that was noted before has its task already.
    const ids = new Set(noted.map((firing) => firing.taskId));
    const stored = seated.filter((task) => ids.has(task.id));
    const admitted = await this.tasks.insert(tx, stored);
    await this.store.move(
      tx,
      steps.map((step) => step.move),
    );
    if (stored.length > 0) failpoint('fire_before_commit');
    return { looked: rows.length, stored, admitted };
  }

  private async stepOf(row: ScheduleRow, busy: boolean): Promise<Step> {
    try {
      const times = new CronTimes(row.cron, row.timezone);
      const plan = planFirings(row, times, busy);
      for (const { at, detail } of plan.notes)
        this.log.warn({
          msg: `schedule ${row.schedule_id} did not fire: ${detail}`,
          namespace: row.namespace,
          fire_at: at.toISOString(),
        });
      return await this.submit(row, times, plan);
    } catch (error) {
      if (!(error instanceof CronProblem)) throw error;
      const [next, waiting] = [row.next_at?.getTime(), row.waiting_at?.getTime()];
      const again = row.now.getTime() + BROKEN_AGAIN_MS;
      return { firings: [], tasks: [], move: moveOf(row, next, waiting, again, error.message) };
    }
  }

  /** Makes the tasks, as far as their lane has room: the rest of the fire times stay due. */
  private async submit(row: ScheduleRow, times: CronTimes, plan: FiringPlan): Promise<Step> {
    const { fire, notes, nextAt, waitingAt } = plan;
    const again = row.now.getTime() + AGAIN_MS;
    const dueAt = Math.min(
      nextAt === undefined ? Infinity : dueTime(row, times, nextAt),
      waitingAt === undefined ? Infinity : again,
    );
    let tasks: NewTask[];
    try {
      tasks = this.tasks.prepareMany(row.namespace, row.task, fire.length);
    } catch (error) {
      if (!(error instanceof ReachError)) throw error;
      const refused = fire.map((at) => firingOf(row, at, 'refused', error.message));
      const move = moveOf(row, nextAt, waitingAt, dueAt, error.message);
      return { firings: [...notes, ...refused], tasks: [], move };
    }
    const granted = await this.tasks.reserve(tasks);
    const firings = [...notes, ...tasks.slice(0, granted).map((task, i) => firingOf(row, fire[i] as number, 'fired', null, task.id))]; // prettier-ignore
    const [task, left] = [tasks[granted], fire[granted]];
    if (task === undefined || left === undefined)
      return { firings, tasks, move: moveOf(row, nextAt, waitingAt, dueAt, null) };
    const { message } = this.tasks.full(task);
    // One that has waited goes on waiting; where none has, the first that found no place is next.
    const move =
      row.overlap === 'queue'
        ? moveOf(row, nextAt, left, again, message)
        : moveOf(row, left, undefined, again, message);
    return { firings, tasks: tasks.slice(0, granted), move };
  }
}

function moveOf(
  row: ScheduleRow,
  nextAt: number | undefined,
  waitingAt: number | undefined,
  dueAt: number,
  problem: string | null,
): Move {
  const dateOf = (at: number | undefined) => (at === undefined ? null : new Date(at));
  return {
    namespace: row.namespace,
    scheduleId: row.schedule_id,
    nextAt: dateOf(nextAt),
    dueAt: dueAt === Infinity ? null : new Date(dueAt),
    waitingAt: dateOf(waitingAt),
    problem,
  };
}
