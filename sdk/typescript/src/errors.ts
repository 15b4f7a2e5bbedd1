import { type TaskDetail } from './wire.js';

/** One bad place of a request: an RFC 6901 JSON pointer and what is wrong there. */
export interface FieldError {
  pointer: string;
  detail: string;
}

/** An error answer of the centre: the body of `application/problem+json`, or of a session's error frame. */
export interface Problem {
  code: string;
  detail: string;
  title?: string;
  status?: number;
  retryable?: boolean;
  errors?: FieldError[];
  trace_id?: string;
  task_id?: string;
  agent_id?: string;
  attempt?: number;
}

/** The centre answered, and the answer is an error. */
export class ReachApiError extends Error {
  /** Stable code as on the wire, for example `REACH_NOT_FOUND`. */
  readonly code: string;
  /** HTTP status; 0 when the error came through a session. */
  readonly status: number;
  readonly detail: string;
  /** Whether the same call, unchanged, may succeed later. */
  readonly retryable: boolean;
  readonly errors: readonly FieldError[];
  readonly traceId: string | undefined;
  readonly taskId: string | undefined;
  readonly agentId: string | undefined;
  /** How long the centre asks to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(problem: Problem, retryAfterMs?: number) {
    super(`${problem.code}: ${problem.detail}${describe(problem.errors)}`);
    this.name = 'ReachApiError';
    this.code = problem.code;
    this.status = problem.status ?? 0;
    this.detail = problem.detail;
    this.retryable = problem.retryable ?? false;
    this.errors = problem.errors ?? [];
    this.traceId = problem.trace_id;
    this.taskId = problem.task_id;
    this.agentId = problem.agent_id;
    this.retryAfterMs = retryAfterMs;
  }
}

function describe(errors: readonly FieldError[] | undefined): string {
  if (!errors || errors.length === 0) return '';
  return ` (${errors.map((e) => `${e.pointer || '/'}: ${e.detail}`).join('; ')})`;
}

/** No answer came: the centre is away, or the network to it is. */
export class ReachConnectionError extends Error {
  readonly url: string;

  constructor(url: string, reason: string, cause?: unknown) {
    super(`no answer from ${url}: ${reason}`, cause === undefined ? undefined : { cause });
    this.name = 'ReachConnectionError';
    this.url = url;
  }
}

/** A wait ended before what was waited for. The task itself goes on. */
export class ReachTimeoutError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReachTimeoutError';
  }
}

/** A task that was waited for ended otherwise than by success. */
export class ReachTaskError extends Error {
  /** `REACH_` code of the failure, for example `REACH_DEPENDENCY_DOWN`. */
  readonly code: string;
  readonly taskId: string;
  readonly state: string;
  readonly retryable: boolean;
  readonly agentId: string | undefined;
  readonly rawError: unknown;
  readonly task: TaskDetail;

  constructor(task: TaskDetail) {
    const code = task.error?.code ?? `REACH_${task.state.toUpperCase()}`;
    super(
      `task ${task.task_id} ${task.state}: ${code}${task.error?.message ? `: ${task.error.message}` : ''}`,
    );
    this.name = 'ReachTaskError';
    this.code = code;
    this.taskId = task.task_id;
    this.state = task.state;
    this.retryable = task.error?.retryable ?? false;
    this.agentId = task.error?.agent_id ?? task.agent_id;
    this.rawError = task.error?.raw_error;
    this.task = task;
  }
}

/** Thrown by a handler to decline the task (out of scope, too long, overloaded); another agent may take it. */
export class AgentRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AgentRefused';
  }
}

export interface TaskFailure {
  /** A code of the catalogue (`DEPENDENCY_DOWN`) or one of your own, up to 64 characters. */
  code: string;
  message: string;
  /** Whether another try may help; left out: the code decides. */
  retryable?: boolean;
  /** The declared dependency that failed, if one did. */
  dependency?: string;
  /** The original error, kept as evidence; any JSON value. */
  raw?: unknown;
}

/** Thrown by a handler to fail the task with a code, a dependency to blame and the original error. */
export class TaskFailed extends Error {
  readonly code: string;
  readonly retryable: boolean | undefined;
  readonly dependency: string | undefined;
  readonly raw: unknown;

  constructor(failure: TaskFailure) {
    super(failure.message);
    this.name = 'TaskFailed';
    this.code = failure.code;
    this.retryable = failure.retryable;
    this.dependency = failure.dependency;
    this.raw = failure.raw;
  }
}

/** Why `ctx.signal` of a handler fired. The work's result no longer counts. */
export class WorkAborted extends Error {
  /** `REACH_CANCELED`, `REACH_DELIVERY_SUPERSEDED`, `REACH_LEASE_EXPIRED`, `DRAIN_DEADLINE`, ... */
  readonly code: string;

  constructor(code: string) {
    super(`stop this work: ${code}`);
    this.name = 'WorkAborted';
    this.code = code;
  }
}
