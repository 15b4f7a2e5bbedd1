import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ReachError } from '../core/errors.js';
import { laneLabel, laneOf, MAX_LANE_LENGTH } from '../core/lane.js';
import type { TaskState } from '../core/task-state.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { failpoint } from '../platform/lifecycle/failpoints.js';
import { newId } from '../platform/ids.js';
import {
  COORDINATOR,
  type Coordinator,
  CoordinatorUnavailable,
} from '../platform/coordination/coordinator.js';
import { toReachError } from '../platform/http/to-reach-error.js';
import { Overloaded, WriterClosed } from '../platform/postgres/batch-writer.js';
import { isDataError } from '../platform/postgres/sql-errors.js';
import { Aliases } from '../registry/aliases.js';
import { AdmissionStore, type Admitted, type NewTask } from './admission.store.js';
import { CallChains } from './call-chains.js';
import { Depths } from './depths.js';
import { DirectPlacement, type Seat } from './direct-placement.js';
import { Orders } from './orders.js';
import { SchedulerMetrics } from './scheduler-metrics.js';
import { Policies } from './policy/policies.js';
import { askedFor, invalidAt, requirementFor } from './requirement.js';
import { requireSize } from './size-limit.js';
import type { TaskBody } from './tasks.wire.js';

export interface Accepted {
  task_id: string;
  state: TaskState;
  deduplicated: boolean;
}

export interface AdmissionContext {
  traceparent?: string;
  /** The `Idempotency-Key` header; a key in the body says the same for one task of a batch. */
  key?: string;
  /** Who submits: callers take turns in a lane. */
  caller?: string;
  /** Told the lane that the task goes into. */
  into?: (lane: string) => void;
}

const idempotencyKey = (namespace: string, key: string): string => `idem:${JSON.stringify([namespace, key])}`;

/**
 * The door. What is accepted here is committed in the ledger and will reach exactly one terminal state;
 * what is refused has left no trace.
 */
@Injectable()
export class Admission {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly store: AdmissionStore,
    private readonly depths: Depths,
    private readonly direct: DirectPlacement,
    private readonly policies: Policies,
    private readonly aliases: Aliases,
    private readonly chains: CallChains,
    private readonly orders: Orders,
    private readonly metrics: SchedulerMetrics,
  ) {}

  /**
   * Accepts one task.
   * @throws ReachError VALIDATION_FAILED, PAYLOAD_TOO_LARGE, QUEUE_FULL, IDEMPOTENCY_CONFLICT, CALL_CYCLE
   */
  async submit(body: TaskBody, context: AdmissionContext): Promise<Accepted> {
    const task = this.prepare(body, context, await this.chains.of(body));
    context.into?.(task.lane);
    const known = task.key === null ? undefined : await this.lookUp(task);
    if (known === undefined) return this.take(task);
    const answer = this.answerKnown(task, known);
    if (answer instanceof ReachError) throw answer;
    return answer;
  }

  /** Accepts each task on its own; the answers are in order. */
  async submitMany(
    bodies: readonly TaskBody[],
    context: AdmissionContext,
  ): Promise<(Accepted | ReachError)[]> {
    const answers = new Array<Accepted | ReachError | undefined>(bodies.length);
    const fresh: { task: NewTask; at: number }[] = [];
    await Promise.all(
      bodies.map(async (body, at) => {
        try {
          const task = this.prepare(body, context, await this.chains.of(body));
          const known = task.key === null ? undefined : await this.lookUp(task);
          if (known === undefined) fresh.push({ task, at });
          else answers[at] = this.answerKnown(task, known);
        } catch (error) {
          answers[at] = asReachError(error);
        }
      }),
    );
    fresh.sort((a, b) => a.at - b.at);
    const placed = await this.takePlaces(fresh, answers);
    await Promise.all(
      placed.map(async ({ task, at }) => {
        try {
          answers[at] = await this.write(task);
        } catch (error) {
          answers[at] = asReachError(error);
        }
      }),
    );
    return answers as (Accepted | ReachError)[];
  }

  /**
   * Accepts a task that is prepared already.
   * @throws ReachError QUEUE_FULL
   */
  async take(task: NewTask): Promise<Accepted> {
    const seat = await this.direct.seek(task);
    if (seat === undefined && (await this.depths.reserve(task.lane, 1)) === 0) {
      this.metrics.laneFull(1);
      throw this.depths.full(task.lane);
    }
    return this.write(task, seat);
  }

  private async takePlaces(
    fresh: readonly { task: NewTask; at: number }[],
    answers: (Accepted | ReachError | undefined)[],
  ): Promise<{ task: NewTask; at: number }[]> {
    const byLane = new Map<string, { task: NewTask; at: number }[]>();
    for (const item of fresh) {
      const group = byLane.get(item.task.lane);
      if (group === undefined) byLane.set(item.task.lane, [item]);
      else group.push(item);
    }
    const placed: { task: NewTask; at: number }[] = [];
    await Promise.all(
      [...byLane].map(async ([lane, items]) => {
        const granted = await this.depths.reserve(lane, items.length);
        if (granted < items.length) this.metrics.laneFull(items.length - granted);
        placed.push(...items.slice(0, granted));
        for (const { at } of items.slice(granted)) answers[at] = this.depths.full(lane);
      }),
    );
    return placed;
  }

  /** @param seat has the task a seat, it takes no place in the lane */
  private async write(task: NewTask, seat?: Seat): Promise<Accepted> {
    let admitted: Admitted;
    try {
      failpoint('admit_before_commit');
      admitted = await this.store.add(task, seat);
      failpoint('admit_after_commit');
    } catch (error) {
      if (seat === undefined || nothingWritten(error)) this.giveBack(task, seat);
      else this.direct.leave(seat);
      throw error;
    }
    if (!admitted.added) {
      this.giveBack(task, seat);
      const answer = this.answerKnown(task, admitted);
      if (answer instanceof ReachError) throw answer;
      return answer;
    }
    this.metrics.accepted(task.capability);
    if (seat !== undefined) this.useSeat(task, seat, admitted);
    if (admitted.state === 'queued') this.orders.place(task.lane);
    if (admitted.deadlineInMs !== null) this.orders.deadline(admitted.deadlineInMs);
    return { task_id: task.id, state: admitted.state, deduplicated: false };
  }

  private giveBack(task: NewTask, seat: Seat | undefined): void {
    if (seat === undefined) this.depths.add(task.lane, -1);
    else this.direct.release(seat);
  }

  private useSeat(task: NewTask, seat: Seat, { state, deadlineAt }: Admitted & { added: true }): void {
    if (state === 'offered') {
      // Where the answer with the time of the ledger was lost, our own has to do: the agent only shows it.
      const ackDeadline = deadlineAt ?? new Date(Date.now() + task.ackTimeoutMs);
      void this.direct.offer(seat, task.namespace, ackDeadline);
      return;
    }
    this.direct.release(seat);
    if (state === 'queued') this.depths.add(task.lane, 1);
  }

  private answerKnown(task: NewTask, known: Admitted): Accepted | ReachError {
    this.metrics.deduplicated();
    return sameTask(task, known);
  }

  /**
   * The fast path of idempotency: the key is set before the insert. A key that is there already proves
   * nothing (its owner may have died before its insert), so the ledger is asked; the unique index in it decides.
   */
  private async lookUp(task: NewTask): Promise<Admitted | undefined> {
    if (task.key === null) return undefined;
    try {
      const present = await this.coordinator.setIfAbsent(
        idempotencyKey(task.namespace, task.key),
        task.id,
        this.config.idempotencyTtlMs,
      );
      if (present === null) return undefined;
    } catch (error) {
      if (!(error instanceof CoordinatorUnavailable)) throw error;
    }
    return this.store.findByKey(task.namespace, task.key, task.id);
  }

  /**
   * The task that a body asks for, with a new id; nothing is stored.
   * @param chain see `CallChains.of`
   * @throws ReachError VALIDATION_FAILED, PAYLOAD_TOO_LARGE, CALL_CYCLE
   */
  prepare(body: TaskBody, context: AdmissionContext, chain: readonly string[] | null = null): NewTask {
    const requirement = this.chains.bound(requirementFor(body, this.aliases), chain);
    const lane = laneOf(requirement);
    if (lane.length > MAX_LANE_LENGTH)
      throw invalidAt(
        '/constraints',
        `capabilities and constraints together are too long (${lane.length} characters)`,
      );
    const { settings } = this.policies.for(requirement);
    const payload = JSON.stringify(body.payload);
    requireSize('payload', payload, this.config.payloadLimitBytes);
    const key = body.idempotency_key ?? context.key ?? null;
    return {
      id: newId(),
      namespace: body.namespace,
      lane,
      capability: laneLabel(requirement),
      asked: askedFor(body, requirement),
      payload,
      priority: body.priority,
      idempotent: body.idempotent,
      affinityKey: body.affinity_key ?? null,
      parentTaskId: body.parent_task_id ?? null,
      chain: chain && JSON.stringify(chain),
      retryOf: null,
      callbackUrl: body.callback_url ?? null,
      traceparent: context.traceparent ?? null,
      ackTimeoutMs: body.ack_timeout_ms ?? settings.ack_timeout_ms,
      executionTimeoutMs: body.execution_timeout_ms ?? settings.execution_timeout_ms,
      ownTimeout: body.execution_timeout_ms !== undefined,
      maxAttempts: body.max_attempts ?? settings.max_attempts,
      delayMs: body.delay_ms ?? 0,
      runAt: body.run_at ?? null,
      expiresInMs: body.expires_in_ms ?? null,
      timeoutMs: body.timeout_ms ?? null,
      key,
      bodyDigest: key === null ? null : digestOf(body),
      caller: context.caller ?? '',
    };
  }
}

function nothingWritten(error: unknown): boolean {
  return error instanceof Overloaded || error instanceof WriterClosed || isDataError(error);
}

/** Digest of what the caller asked for, without the key itself. */
function digestOf(body: TaskBody): string {
  const { idempotency_key: _, ...rest } = body;
  return createHash('sha256').update(JSON.stringify(rest)).digest('base64');
}

function sameTask(task: NewTask, known: Admitted): Accepted | ReachError {
  if (known.added) return { task_id: task.id, state: known.state, deduplicated: false };
  if (known.bodyDigest !== task.bodyDigest)
    return new ReachError(
      'IDEMPOTENCY_CONFLICT',
      `the idempotency key ${JSON.stringify(task.key)} was used for task ${known.taskId} with another body; ` +
        'use a new key for a new task',
      { task_id: known.taskId },
    );
  return { task_id: known.taskId, state: known.state, deduplicated: true };
}

/** The answer for one task of many: a failure of one must not hide that others were accepted. */
function asReachError(error: unknown): ReachError {
  return (
    toReachError(error) ??
    new ReachError('INTERNAL', 'the task could not be stored; see the log', { cause: error })
  );
}
