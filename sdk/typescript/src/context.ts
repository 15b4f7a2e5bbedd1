import { WorkAborted } from './errors.js';
import { type EnqueueOptions, type WaitOptions } from './client-options.js';
import { type Client } from './client.js';
import { type Offer, type TaskAccepted, type TaskRequest } from './wire.js';

export interface Progress {
  /** The deadline becomes at least this long from now. */
  extendMs?: number;
  /** What is going on, for people; at most 2000 characters. */
  note?: string;
}

/** A shorter one is refused. */
const LEAST_TIMEOUT_MS = 50;

/** Reports progress; resolves when there is an answer, or none is to be waited for. */
export type ReportProgress = (progress: Progress) => Promise<void>;

/** What a handler can know and do about the delivery it works on. */
export class TaskContext {
  readonly taskId: string;
  readonly deliveryId: string;
  /** 1 for the first try of the task. */
  readonly attempt: number;
  /** true: the caller said that running it twice is harmless. */
  readonly idempotent: boolean;
  /** W3C trace context of the task, if it has one. */
  readonly traceparent: string | undefined;
  /** The caller asked for `from`, which nobody could be reached for; the answer is marked. */
  readonly fallbackUsed: Offer['fallback_used'];
  /** Free facts about the result (tokens, model, ...), stored beside it. */
  readonly meta: Record<string, unknown> = {};
  private controller: AbortController | undefined;
  private aborted: WorkAborted | undefined;
  private deadlineAt: number;
  private shown: string | undefined;
  private readonly began = performance.now();

  constructor(
    private readonly offer: Offer,
    deadline: Date,
    private readonly client: Client,
    private readonly report: ReportProgress,
  ) {
    this.taskId = offer.task_id;
    this.deliveryId = offer.delivery_id;
    this.attempt = offer.attempt;
    this.idempotent = offer.idempotent;
    this.traceparent = offer.traceparent;
    this.fallbackUsed = offer.fallback_used;
    this.deadlineAt = deadline.getTime();
    this.shown = offer.token;
  }

  /**
   * A signed token that tells the dependencies of the agent which task it works on (a JWT, for `Authorization: Bearer`).
   * It holds until the deadline: read it anew for each call, as `progress` with `extendMs` replaces it. Undefined: the
   * agent declared no dependency.
   */
  get token(): string | undefined {
    return this.shown;
  }

  /** Fires with `WorkAborted` when the work no longer counts: canceled, handed to another agent, lease lost, drain over. */
  get signal(): AbortSignal {
    // Made on demand: most handlers are short and never look.
    this.controller ??= new AbortController();
    if (this.aborted && !this.controller.signal.aborted) this.controller.abort(this.aborted);
    return this.controller.signal;
  }

  /** When the centre gives up on this delivery; moves with `progress`. */
  get deadline(): Date {
    return new Date(this.deadlineAt);
  }

  /**
   * Tells the centre that the work goes on, and asks for more time. Resolves to the deadline that is known then.
   * It never rejects and holds nobody up: while the centre is away it resolves at once, and the report is sent
   * when the centre is back, if the work still goes on then; an answer is waited for at most `answerTimeoutMs`.
   */
  async progress(progress: Progress = {}): Promise<Date> {
    await this.report(progress);
    return this.deadline;
  }

  /** Enqueues a task as a child of this one. */
  enqueue(task: TaskRequest, options: EnqueueOptions = {}): Promise<TaskAccepted> {
    return this.client.enqueue(this.childOf(task), this.traced(options));
  }

  /** Enqueues a child task and waits for its result. @throws ReachTaskError when it ends otherwise */
  run<T = unknown>(task: TaskRequest, options: EnqueueOptions & WaitOptions = {}): Promise<T> {
    return this.client.run<T>(this.childOf(task), { signal: this.signal, ...this.traced(options) });
  }

  /** For the SDK: the centre gives the work until then. */
  moveDeadline(deadline: Date, token?: string): void {
    this.deadlineAt = deadline.getTime();
    this.shown = token ?? this.shown;
  }

  /** For the SDK: the work no longer counts. */
  abort(code: string): void {
    if (this.aborted) return;
    this.aborted = new WorkAborted(code);
    this.controller?.abort(this.aborted);
  }

  private childOf(task: TaskRequest): TaskRequest {
    const child = { parent_task_id: this.taskId, ...task };
    const { time_left_ms: timeMs } = this.offer;
    if (timeMs === undefined) return child;
    // Nobody waits for it longer than for this one.
    const leftMs = Math.max(LEAST_TIMEOUT_MS, Math.floor(timeMs - (performance.now() - this.began)));
    return { ...child, timeout_ms: Math.min(leftMs, task.timeout_ms ?? Infinity) };
  }

  private traced<O extends EnqueueOptions>(options: O): O {
    return this.traceparent === undefined ? options : { traceparent: this.traceparent, ...options };
  }
}
