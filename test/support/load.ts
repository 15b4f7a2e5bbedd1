import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from '@agent-reach/sdk';
import type { Api, Json } from './api.js';
import { until } from './until.js';

const SUBMITTERS = 4;
/** An answer that takes longer than this is counted as none. */
const ANSWER_WITHIN_MS = 8_000;

/** What became of one submit. */
interface Try {
  status: number;
  tookMs: number;
}

/**
 * A steady stream of tasks, and agents of the SDK that do them: half of the tasks are idempotent. What was
 * accepted and what was executed is written down, to be held against the ledger afterwards.
 */
export class Load {
  readonly accepted: string[] = [];
  /** How often each task was begun by a handler. */
  readonly executions = new Map<string, number>();
  readonly tries: Try[] = [];
  /** Monotonic ms of each handler's end. */
  readonly endedAt: number[] = [];
  private agents: Agent[] = [];
  private running = false;
  private submitting: Promise<void>[] = [];
  private numbers = 0;

  constructor(
    private readonly api: Api,
    private readonly urls: readonly string[],
    private readonly ackTimeoutMs = 2000,
  ) {}

  async start(agents = 3): Promise<void> {
    this.agents = Array.from(
      { length: agents },
      (_, i) =>
        new Agent({
          url: [...this.urls.slice(i % this.urls.length), ...this.urls.slice(0, i % this.urls.length)],
          namespace: this.api.namespace,
          agentId: `loader-${i}`,
          maxConcurrency: 10,
          heartbeatIntervalMs: 1000,
          capabilities: {
            work: async (task) => {
              this.executions.set(task.taskId, (this.executions.get(task.taskId) ?? 0) + 1);
              await pause(Math.random() * 20);
              this.endedAt.push(performance.now());
              return 'done';
            },
          },
          logger: quiet,
        }),
    );
    await Promise.all(this.agents.map((agent) => agent.start()));
    this.running = true;
    this.submitting = Array.from({ length: SUBMITTERS }, () => this.submit());
  }

  /** Resolves when `tasks` more were executed from now on; throws when that takes longer than `withinMs`. */
  async goesOn(tasks: number, withinMs: number): Promise<void> {
    const wanted = this.endedAt.length + tasks;
    await until(`${tasks} more tasks executed`, () => this.endedAt.length >= wanted, withinMs);
  }

  /** No more tasks; resolves with every task that was accepted once all have ended. */
  async finish(): Promise<Json[]> {
    this.running = false;
    await Promise.all(this.submitting);
    let tasks: Json[] = [];
    try {
      await until(
        'every accepted task has ended',
        async () => {
          if ((await this.open()) > 0) return false;
          // A task that changes its state between those questions is in none of the answers: what counts is the list.
          tasks = await this.all();
          return tasks.every((task) => task.finished_at !== undefined);
        },
        25_000,
      );
    } finally {
      await Promise.all(this.agents.map((agent) => agent.stop({ drainMs: 0 })));
    }
    return tasks;
  }

  private async submit(): Promise<void> {
    while (this.running) {
      const n = this.numbers++;
      const body = {
        capability: 'work',
        payload: n,
        idempotent: n % 2 === 0,
        ack_timeout_ms: this.ackTimeoutMs,
      };
      // The same key until it is accepted: what looked lost may have been stored.
      for (;;) {
        const answer = await this.tryOnce(body, `load-${n}`);
        if (answer?.status === 202) {
          this.accepted.push(answer.body.task_id as string);
          break;
        }
        await pause(50);
      }
      await pause(5);
    }
  }

  private async tryOnce(body: object, key: string) {
    const began = performance.now();
    const late = pause(ANSWER_WITHIN_MS, undefined, { ref: false });
    const answer = await Promise.race([
      this.api.post('tasks', body, { 'idempotency-key': key }).catch(() => undefined),
      late,
    ]);
    this.tries.push({ status: answer?.status ?? 0, tookMs: performance.now() - began });
    return answer ?? undefined;
  }

  private async open(): Promise<number> {
    let open = 0;
    for (const state of ['running', 'offered', 'queued', 'scheduled'])
      open += (await this.api.get('tasks', { state, limit: 1 })).body.items.length as number;
    return open;
  }

  private async all(): Promise<Json[]> {
    const tasks: Json[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await this.api.get('tasks', { limit: 500, ...(cursor !== undefined && { cursor }) });
      tasks.push(...(body.items as Json[]));
      cursor = body.next_cursor as string | undefined;
    } while (cursor !== undefined);
    return tasks;
  }
}

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
