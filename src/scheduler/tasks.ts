import { Injectable } from '@nestjs/common';
import { ReachError, wireCode } from '../core/errors.js';
import { isTerminal, type TaskState } from '../core/task-state.js';
import type { Caller } from '../platform/http/gone.js';
import { toReachError } from '../platform/http/to-reach-error.js';
import type { SqlRunner } from '../platform/postgres/sql.js';
import { newId } from '../platform/ids.js';
import { Admission } from './admission.js';
import type { NewTask } from './admission.store.js';
import { itemProblem } from './item-problem.js';
import { DeliveryStore } from './delivery.store.js';
import { RetryBudgets } from './retry-budgets.js';
import { TaskNews } from './task-news.js';
import { type ReplayRow, type TaskFilter, TaskStore } from './task.store.js';
import { toTaskDetail, type TaskRow } from './task-row.js';

/** A waiter looks into the ledger this often by itself, in case news of its task was lost. */
const RECHECK_MS = 2000;

/** What orchestrators do with tasks that exist. */
@Injectable()
export class Tasks {
  constructor(
    private readonly store: TaskStore,
    private readonly deliveries: DeliveryStore,
    private readonly admission: Admission,
    private readonly news: TaskNews,
    private readonly budgets: RetryBudgets,
  ) {}

  /**
   * The task with its deliveries; waits up to `waitMs` for it to end.
   * @throws ReachError NOT_FOUND
   */
  async get(namespace: string, id: string, waitMs: number, caller?: Caller) {
    if (waitMs > 0)
      await this.news.wait(
        id,
        async () => {
          const state = await this.store.state(id);
          return { done: state === undefined || isTerminal(state), value: undefined };
        },
        waitMs,
        RECHECK_MS,
        caller,
      );
    return this.store.snapshot(async (on) => {
      const task = await this.require(namespace, id, on);
      return toTaskDetail(task, await this.store.deliveries(id, on));
    });
  }

  /** @throws ReachError NOT_FOUND */
  async require(namespace: string, id: string, on?: SqlRunner): Promise<TaskRow & { payload: unknown }> {
    const task = await this.store.find(id, on);
    if (task?.namespace !== namespace) throw notFound(namespace, id);
    return task;
  }

  /**
   * Cancels a task that has not ended. The answer tells what holds: canceled by this call, or the state in which
   * it had ended before.
   * @throws ReachError NOT_FOUND
   */
  async cancel(namespace: string, id: string): Promise<{ state: TaskState; canceled: boolean }> {
    for (;;) {
      const canceled = await this.deliveries.cancel(id, namespace);
      if (canceled !== undefined) return { state: 'canceled', canceled: true };
      const task = await this.store.find(id);
      if (task?.namespace !== namespace) throw notFound(namespace, id);
      // Still open: it changed hands between the two statements; try again.
      if (isTerminal(task.state)) return { state: task.state, canceled: false };
    }
  }

  /**
   * Submits an ended task anew, as a new task; beyond what the caller may have tried again at once it waits for a while.
   * @throws ReachError NOT_FOUND, STATE_CONFLICT
   */
  async retry(
    namespace: string,
    id: string,
    caller: string,
  ): Promise<{ task_id: string; retry_of: string; state: TaskState }> {
    const [row] = await this.store.replayable([id], { namespace }, 1);
    if (row === undefined) throw notFound(namespace, id);
    if (!isTerminal(row.state))
      throw new ReachError(
        'STATE_CONFLICT',
        `task ${id} is ${row.state}; only an ended task can be retried`,
        {
          task_id: id,
        },
      );
    const [delayMs = 0] = await this.budgets.delaysMs(namespace, caller, 1);
    return this.replay(row, delayMs, caller);
  }

  /** Submits every ended task that matches anew, oldest first, as `retry` does. */
  async retryMany(filter: TaskFilter, limit: number, dryRun: boolean, caller: string) {
    const rows = await this.store.replayable(null, filter, limit);
    const delays = dryRun ? [] : await this.budgets.delaysMs(filter.namespace, caller, rows.length);
    const answers = await Promise.all(
      delays.map((delayMs, i) => this.tryReplay(rows[i] as ReplayRow, delayMs, caller)),
    );
    return {
      matched: rows.length,
      retried: answers.filter((a) => 'task_id' in a),
      failed: answers.filter((a) => 'error' in a),
      dry_run: dryRun,
    };
  }

  /** One of many: what fails is said beside what was done, not instead of it. */
  private async tryReplay(
    row: ReplayRow,
    delayMs: number,
    caller: string,
  ): Promise<Awaited<ReturnType<Tasks['replay']>> | FailedReplay> {
    try {
      return await this.replay(row, delayMs, caller);
    } catch (error) {
      const known = toReachError(error);
      if (known === undefined) throw error;
      return {
        retry_of: row.id,
        error: itemProblem(known),
      };
    }
  }

  private async replay(
    row: ReplayRow,
    delayMs: number,
    caller: string,
  ): Promise<{ task_id: string; retry_of: string; state: TaskState }> {
    const accepted = await this.admission.take({ ...asNew(row, caller), delayMs });
    return { task_id: accepted.task_id, retry_of: row.id, state: accepted.state };
  }
}

interface FailedReplay {
  retry_of: string;
  error: ReturnType<typeof itemProblem>;
}

function asNew(row: ReplayRow, caller: string): NewTask {
  return {
    id: newId(),
    namespace: row.namespace,
    lane: row.lane,
    capability: row.capability,
    asked: row.asked,
    payload: row.payload,
    priority: row.priority,
    idempotent: row.idempotent,
    affinityKey: row.affinity_key,
    parentTaskId: row.parent_task_id,
    chain: row.chain,
    retryOf: row.id,
    callbackUrl: row.callback_url,
    traceparent: null,
    ackTimeoutMs: row.ack_timeout_ms,
    executionTimeoutMs: row.execution_timeout_ms,
    ownTimeout: row.own_timeout,
    maxAttempts: row.max_attempts,
    delayMs: 0,
    runAt: null,
    expiresInMs: null,
    timeoutMs: null,
    key: null,
    bodyDigest: null,
    caller,
  };
}

export function notFound(namespace: string, id: string): ReachError {
  return new ReachError('NOT_FOUND', `there is no task ${id} in namespace ${namespace}`, { task_id: id });
}

/** A code filter matches with and without the prefix; rows carry it. */
export function codeFilter(code: string | undefined): string | undefined {
  return code === undefined ? undefined : wireCode(code);
}
