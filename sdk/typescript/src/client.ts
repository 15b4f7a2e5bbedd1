import { randomUUID } from 'node:crypto';
import { Aliases } from './aliases.js';
import { pause } from './backoff.js';
import {
  type AgentFilter,
  type AttributionFilter,
  type ClientOptions,
  type EnqueueOptions,
  type InNamespace,
  type TaskFilter,
  type WaitOptions,
} from './client-options.js';
import { ReachApiError, ReachConnectionError, ReachTaskError, ReachTimeoutError } from './errors.js';
import { Http } from './http.js';
import { Schedules } from './schedules.js';
import { followEvents } from './task-events.js';
import {
  type AgentDetail,
  type AgentView,
  type Attribution,
  type AttributionSummary,
  type BulkRetryAnswer,
  type BulkRetryRequest,
  type CancelAnswer,
  type Capability,
  type CapabilityDetail,
  type EffectivePolicy,
  type Explanation,
  type Page,
  type PolicySettings,
  type PolicyVersion,
  type SimulateAnswer,
  type SimulateRequest,
  type RemovalAnswer,
  type RetryAnswer,
  type StoryEntry,
  type Task,
  type TaskAccepted,
  type TaskBatchAnswer,
  type TaskDetail,
  type TaskRequest,
  type TaskState,
} from './wire.js';

const DEFAULT_WAIT_MS = 300_000;
/** One long poll; below what proxies usually cut. */
const LONG_POLL_MS = 25_000;
const WAIT_RETRY_MS = 500;
const TERMINAL: ReadonlySet<TaskState> = new Set<TaskState>(['succeeded', 'failed', 'canceled', 'expired']);

const segment = encodeURIComponent;

/** Of the options of a call, its namespace. */
function named({ namespace }: InNamespace): InNamespace {
  return { namespace };
}

/** Whether a task has ended. */
export function isTerminal(state: TaskState): boolean {
  return TERMINAL.has(state);
}

/**
 * The caller's side of Agent-Reach. Every method rejects with `ReachApiError` when the centre refuses and with
 * `ReachConnectionError` when it cannot be reached; reads, and enqueues (by their idempotency key), are repeated
 * a few times first.
 */
export class Client {
  readonly namespace: string;
  /** Tasks that come again and again. */
  readonly schedules: Schedules;
  /** Other names of capabilities. */
  readonly aliases: Aliases;
  private readonly http: Http;

  constructor(options: ClientOptions = {}) {
    this.namespace = options.namespace ?? 'default';
    this.http = new Http({
      ...options,
      url: options.url ?? process.env['REACH_URL'] ?? 'http://127.0.0.1:8080',
      token: options.token ?? process.env['REACH_TOKEN'],
    });
    this.aliases = new Aliases(this.http, this.namespace);
    this.schedules = new Schedules(this.http, this.namespace);
  }

  /** Stores a task; resolves once it is certain to reach a terminal state. */
  enqueue(task: TaskRequest, options: EnqueueOptions = {}): Promise<TaskAccepted> {
    const key = options.idempotencyKey ?? task.idempotency_key ?? randomUUID();
    return this.http.json<TaskAccepted>({
      method: 'POST',
      path: 'tasks',
      body: this.inNamespace(task),
      headers: {
        'idempotency-key': key,
        ...(options.traceparent === undefined ? {} : { traceparent: options.traceparent }),
      },
      repeatable: true,
    });
  }

  /** Stores up to 1000 tasks; answers one by one, in order. */
  enqueueBatch(tasks: readonly TaskRequest[]): Promise<TaskBatchAnswer> {
    const batch = randomUUID();
    const body = {
      tasks: tasks.map((task, i) => ({
        ...this.inNamespace(task),
        idempotency_key: task.idempotency_key ?? `${batch}.${i}`,
      })),
    };
    return this.http.json({ method: 'POST', path: 'tasks/batch', body, repeatable: true });
  }

  get(taskId: string, options: InNamespace = {}): Promise<TaskDetail> {
    return this.query(`tasks/${segment(taskId)}`, named(options));
  }

  /** Waits for a terminal state; survives a restart of the centre. @throws ReachTimeoutError */
  async wait(taskId: string, options: WaitOptions = {}): Promise<TaskDetail> {
    const timeoutMs = options.timeoutMs ?? DEFAULT_WAIT_MS;
    const until = performance.now() + timeoutMs;
    for (;;) {
      const leftMs = Math.max(0, until - performance.now());
      try {
        const task = await this.poll(taskId, Math.min(LONG_POLL_MS, Math.ceil(leftMs)), options);
        if (isTerminal(task.state)) return task;
        if (performance.now() >= until)
          throw new ReachTimeoutError(
            `task ${taskId} is still ${task.state} after ${timeoutMs} ms; it goes on`,
          );
      } catch (error) {
        const away =
          error instanceof ReachConnectionError || (error instanceof ReachApiError && error.retryable);
        if (!away || performance.now() >= until) throw error;
        await pause(Math.min(WAIT_RETRY_MS, until - performance.now()), options.signal);
        options.signal?.throwIfAborted();
      }
    }
  }

  /** Enqueues, waits, and resolves to the result. @throws ReachTaskError when the task ends otherwise */
  async run<T = unknown>(task: TaskRequest, options: EnqueueOptions & WaitOptions = {}): Promise<T> {
    const accepted = await this.enqueue(task, options);
    const ended = await this.wait(accepted.task_id, { ...named(task), ...options });
    if (ended.state !== 'succeeded') throw new ReachTaskError(ended);
    return ended.result as T;
  }

  /** One page of tasks, newest first. */
  page(filter: TaskFilter = {}, page: { limit?: number; cursor?: string } = {}): Promise<Page<Task>> {
    return this.query('tasks', { ...filter, ...page });
  }

  /** All tasks that fit, page by page. */
  list(filter: TaskFilter = {}): AsyncGenerator<Task> {
    return this.pages<Task>('tasks', filter);
  }

  cancel(taskId: string, options: InNamespace = {}): Promise<CancelAnswer> {
    return this.http.json({
      method: 'POST',
      path: `tasks/${segment(taskId)}/cancel`,
      query: this.inNamespace(named(options)),
      repeatable: true,
    });
  }

  /** Makes a new task from one that has ended. */
  retry(taskId: string, options: InNamespace = {}): Promise<RetryAnswer> {
    return this.http.json({
      method: 'POST',
      path: `tasks/${segment(taskId)}/retry`,
      query: this.inNamespace(named(options)),
    });
  }

  /** Makes new tasks from all that ended and fit; `dry_run` only counts them. */
  retryMany(request: BulkRetryRequest): Promise<BulkRetryAnswer> {
    return this.http.json({
      method: 'POST',
      path: 'tasks/retry',
      body: this.inNamespace(request),
    });
  }

  /** The whole story of a task, and who is to blame for what went wrong. */
  explain(taskId: string, options: InNamespace = {}): Promise<Explanation> {
    return this.query(`tasks/${segment(taskId)}/explain`, named(options));
  }

  /** The story of a task as it happens, until its end; broken streams are taken up where they broke. */
  events(
    taskId: string,
    options: InNamespace & { after?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<StoryEntry> {
    return followEvents(this.http, taskId, { ...options, namespace: options.namespace ?? this.namespace });
  }

  attributions(filter: AttributionFilter = {}): AsyncGenerator<Attribution> {
    return this.pages<Attribution>('attributions', filter);
  }

  /** Attributions counted by one of code, blame, agent_id, dependency, capability, stage. */
  attributionSummary(groupBy: string, filter: AttributionFilter = {}): Promise<AttributionSummary> {
    return this.query('attributions/summary', { ...filter, group_by: groupBy });
  }

  agents(filter: AgentFilter = {}): AsyncGenerator<AgentView> {
    return this.pages<AgentView>('agents', filter);
  }

  /** One agent with the facts behind its state, what it did of late, and the history of its states. */
  agent(agentId: string): Promise<AgentDetail> {
    return this.query(`agents/${segment(agentId)}`, {});
  }

  /** Takes an agent out of service: it finishes what runs and gets nothing new. */
  drain(agentId: string, drainMs?: number): Promise<RemovalAnswer> {
    return this.http.json({
      method: 'POST',
      path: `agents/${segment(agentId)}/drain`,
      query: this.inNamespace({}),
      body: { ...(drainMs === undefined ? {} : { drain_ms: drainMs }) },
      repeatable: true,
    });
  }

  /**
   * Holds an agent out of service until it is released: it finishes what it has and gets nothing new. Its state is
   * judged all the same.
   */
  hold(agentId: string, reason = ''): Promise<AgentView> {
    return this.http.json({
      method: 'POST',
      path: `agents/${segment(agentId)}/hold`,
      query: this.inNamespace({}),
      body: { reason },
      repeatable: true,
    });
  }

  /** Ends a hold. */
  release(agentId: string): Promise<AgentView> {
    return this.http.json({
      method: 'POST',
      path: `agents/${segment(agentId)}/release`,
      query: this.inNamespace({}),
      body: {},
      repeatable: true,
    });
  }

  /** Who offers what. */
  async capabilities(): Promise<Capability[]> {
    const answer = await this.query<{ items: Capability[] }>('capabilities', {});
    return answer.items;
  }

  /** One capability, by any of its names: versions, schemas, who offers it. */
  capability(name: string): Promise<CapabilityDetail> {
    return this.query(`capabilities/${segment(name)}`, {});
  }

  /** Who would get such a task now, and why nobody else; nothing is delivered. */
  simulate(request: SimulateRequest): Promise<SimulateAnswer> {
    return this.http.json({
      method: 'POST',
      path: 'route/simulate',
      body: this.inNamespace(request),
      repeatable: true,
    });
  }

  /** The policies of the namespace. */
  policies(): AsyncGenerator<PolicyVersion> {
    return this.pages<PolicyVersion>('policies', {});
  }

  /** What holds for a capability (`*`: for every one of the namespace), and the last versions of its policy. */
  policy(capability: string): Promise<EffectivePolicy> {
    return this.query(`policies/${segment(capability)}`, {});
  }

  /**
   * Replaces the policy of a capability (`*`: of every one of the namespace).
   * @param ifVersion write only where this version holds; 0: where there is none yet
   */
  setPolicy(capability: string, settings: PolicySettings, ifVersion?: number): Promise<PolicyVersion> {
    return this.http.json({
      method: 'PUT',
      path: `policies/${segment(capability)}`,
      body: this.inNamespace({ settings, if_version: ifVersion }),
      repeatable: ifVersion === undefined,
    });
  }

  /** Removes the policy of a capability. */
  removePolicy(capability: string): Promise<PolicyVersion> {
    return this.http.json({
      method: 'DELETE',
      path: `policies/${segment(capability)}`,
      query: this.inNamespace({}),
      repeatable: true,
    });
  }

  /** Stops giving out tasks of a capability; they are accepted and wait. */
  pauseCapability(capability: string, reason = ''): Promise<Capability> {
    return this.switchCapability(capability, 'pause', reason);
  }

  resumeCapability(capability: string): Promise<Capability> {
    return this.switchCapability(capability, 'resume', '');
  }

  private switchCapability(capability: string, to: 'pause' | 'resume', reason: string): Promise<Capability> {
    const body = this.inNamespace({ reason });
    return this.http.json({
      method: 'POST',
      path: `capabilities/${segment(capability)}/${to}`,
      body,
      repeatable: true,
    });
  }

  private poll(taskId: string, waitMs: number, options: WaitOptions): Promise<TaskDetail> {
    return this.http.json({
      method: 'GET',
      path: `tasks/${segment(taskId)}`,
      query: this.inNamespace({ ...named(options), wait_ms: waitMs }),
      timeoutMs: waitMs + 10_000,
      signal: options.signal,
      // `wait` itself goes on until its own end.
      repeatable: false,
    });
  }

  private query<T>(path: string, query: object): Promise<T> {
    return this.http.json({ method: 'GET', path, query: this.inNamespace(query) });
  }

  /** Every call goes through here: a task is not found in a namespace that is not its own. */
  private inNamespace<T extends object>(fields: T): T & { namespace: string } {
    const namespace = (fields as InNamespace).namespace ?? this.namespace;
    // First in the query, and not undone by a filter that leaves it open.
    return Object.assign({ namespace }, fields, { namespace });
  }

  private async *pages<T>(path: string, filter: object): AsyncGenerator<T> {
    let cursor: string | undefined;
    do {
      const page: Page<T> = await this.query(path, { limit: 200, ...filter, cursor });
      yield* page.items;
      cursor = page.next_cursor;
    } while (cursor !== undefined);
  }
}
