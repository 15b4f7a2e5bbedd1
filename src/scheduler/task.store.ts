import { Injectable } from '@nestjs/common';
import type { TaskState } from '../core/task-state.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql, type SqlRunner } from '../platform/postgres/sql.js';
import type { DeliveryRow, TaskRow } from './task-row.js';

const sqlOf = (name: string) => loadSql(import.meta.url, `sql/${name}.sql`);
const TASK = sqlOf('task');
const TASK_STATE = sqlOf('task_state');
const TASK_DELIVERIES = sqlOf('task_deliveries');
const TASKS_PAGE = sqlOf('tasks_page');
const REPLAY = sqlOf('replay');

export interface TaskFilter {
  namespace: string;
  state?: string | undefined;
  capability?: string | undefined;
  agent_id?: string | undefined;
  code?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

export interface ReplayRow {
  id: string;
  namespace: string;
  lane: string;
  capability: string;
  asked: string | null;
  payload: string;
  priority: number;
  idempotent: boolean;
  affinity_key: string | null;
  parent_task_id: string | null;
  chain: string | null;
  callback_url: string | null;
  ack_timeout_ms: number;
  execution_timeout_ms: number;
  own_timeout: boolean;
  max_attempts: number;
  state: TaskState;
}

/** Reads of tasks and their deliveries. */
@Injectable()
export class TaskStore {
  constructor(private readonly sql: Sql) {}

  /** Runs reads that have to fit together; pass them what `work` is given. */
  snapshot<T>(work: (on: SqlRunner) => Promise<T>): Promise<T> {
    return this.sql.snapshot(work);
  }

  async find(id: string, on: SqlRunner = this.sql): Promise<(TaskRow & { payload: unknown }) | undefined> {
    return (await on.run<TaskRow & { payload: unknown }>('task', TASK, [id])).rows[0];
  }

  async state(id: string): Promise<TaskState | undefined> {
    return (await this.sql.run<{ state: TaskState }>('task_state', TASK_STATE, [id])).rows[0]?.state;
  }

  /** Closed deliveries, oldest first. */
  async deliveries(taskId: string, on: SqlRunner = this.sql): Promise<DeliveryRow[]> {
    return (await on.run<DeliveryRow>('task_deliveries', TASK_DELIVERIES, [taskId])).rows;
  }

  /** Newest first, before `beforeId`. */
  async page(f: TaskFilter, beforeId: string | null, limit: number): Promise<TaskRow[]> {
    const params = [...filterParams(f), beforeId, limit];
    return (await this.sql.run<TaskRow>('tasks_page', TASKS_PAGE, params)).rows;
  }

  /** Tasks to submit anew: by id, or by filter. */
  async replayable(ids: readonly string[] | null, f: TaskFilter, limit: number): Promise<ReplayRow[]> {
    const { rows } = await this.sql.run<ReplayRow>('replay', REPLAY, [
      f.namespace,
      ids,
      f.state ?? null,
      f.capability ?? null,
      f.code ?? null,
      f.since ?? null,
      f.until ?? null,
      limit,
    ]);
    return rows;
  }
}

function filterParams(f: TaskFilter): unknown[] {
  return [
    f.namespace,
    f.state ?? null,
    f.capability ?? null,
    f.agent_id ?? null,
    f.code ?? null,
    f.since ?? null,
    f.until ?? null,
  ];
}
