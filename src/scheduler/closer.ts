import { Inject, Injectable, Logger } from '@nestjs/common';
import { attribute, consequence, type Attribution, type Incident } from '../core/attribution.js';
import { retryDelayMs, spreadMs, type BackoffPolicy } from '../core/backoff.js';
import { wireCode } from '../core/errors.js';
import { judgeRetry, type RetryVerdict } from '../core/retry.js';
import { deliveryIdOf } from '../core/task-state.js';
import { storableJson, storableText, truncate } from '../core/text.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { failpoint } from '../platform/lifecycle/failpoints.js';
import { newId } from '../platform/ids.js';
import { Complaints } from '../probe/complaints.js';
import { ReachTable } from '../registry/reach-table.js';
import { agentKey } from '../registry/agent-row.js';
import { DeadlineAlarm } from './deadline-alarm.js';
import { DeliveryStore } from './delivery.store.js';
import { RetryBudgets } from './retry-budgets.js';

/** An open delivery as the caller saw it. */
export interface OpenDelivery {
  taskId: string;
  fence: number;
  leaseId: string;
  state: 'offered' | 'running';
  namespace: string;
  capability: string;
  agentId: string;
  attempt: number;
  maxAttempts: number;
  idempotent: boolean;
  /** The time of the whole task has ended. */
  over?: boolean;
}

const MESSAGE_LIMIT = 2000;
const RAW_ERROR_LIMIT = 64 * 1024;
const LONGEST_RETRY_PAUSE_MS = 3_600_000;

/**
 * Ends deliveries that failed: says why, decides about another attempt, and writes both in one statement.
 * Whoever notices the failure (agent, sweep, transport) comes here.
 */
@Injectable()
export class Closer {
  private readonly log = new Logger(Closer.name);
  private readonly backoff: BackoffPolicy;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly store: DeliveryStore,
    private readonly table: ReachTable,
    private readonly alarm: DeadlineAlarm,
    private readonly complaints: Complaints,
    private readonly budgets: RetryBudgets,
  ) {
    this.backoff = { baseMs: config.retryBaseMs, jitter: config.retryJitter, capMs: LONGEST_RETRY_PAUSE_MS };
  }

  /**
   * Ends a delivery by an incident.
   * @param rawError what the agent sent, kept as it is
   * @returns the state the task is in by it, or undefined when the delivery was not open any more
   */
  async fail(
    delivery: OpenDelivery,
    incident: Incident,
    rawError?: unknown,
  ): Promise<'scheduled' | 'failed' | undefined> {
    const cause = attribute(incident);
    const said = incident.kind === 'reported' ? incident.retryable : undefined;
    const verdict = judgeRetry(
      {
        code: cause.code,
        evidence: cause.evidenceOfWork,
        ...(said !== undefined && { agentSaysRetryable: said }),
      },
      delivery,
    );
    const delayMs = verdict.retry ? await this.pauseMs(cause, delivery) : 0;
    const message = truncate(storableText(cause.message + consequence(verdict, delayMs)), MESSAGE_LIMIT);
    const next = verdict.retry ? 'scheduled' : 'failed';
    failpoint('close_before_commit');
    const closed = await this.store.close({
      taskId: delivery.taskId,
      fence: delivery.fence,
      leaseId: delivery.leaseId,
      seen: delivery.state,
      outcome: 'failed',
      code: cause.code,
      next,
      delayMs,
      error: verdict.retry ? null : errorJson(cause, delivery, message, rawError),
      attribution: {
        id: newId(),
        stage: cause.stage,
        blame: cause.blame,
        dependency: cause.dependency ?? null,
        message,
        evidence: this.evidence(delivery, incident, cause, verdict, rawError),
      },
    });
    failpoint('close_after_commit');
    if (closed === undefined) return undefined;
    if (next === 'scheduled') this.alarm.set(delayMs);
    if (incident.kind === 'reported' && cause.dependency !== undefined)
      this.complaints.dependencyFailed(delivery.namespace, delivery.agentId, incident.dependency);
    this.log.log({
      event: 'reach_attempt_failed',
      msg: message,
      task_id: delivery.taskId,
      code: cause.code,
      next,
    });
    return next;
  }

  /** Takes a delivery back that no agent can have begun, without charging an attempt. */
  async release(delivery: OpenDelivery, code: string): Promise<boolean> {
    const released = await this.store.close({
      taskId: delivery.taskId,
      fence: delivery.fence,
      leaseId: delivery.leaseId,
      seen: delivery.state,
      outcome: 'released',
      code,
      next: 'queued',
      delayMs: 0,
      error: null,
      attribution: null,
    });
    return released === true;
  }

  /** Offers that met a deaf agent go on after a small random pause, what has failed after 1, 2, 4 s, many later. */
  private async pauseMs(
    cause: Attribution,
    { namespace, capability, attempt }: OpenDelivery,
  ): Promise<number> {
    if (cause.stage === 'offer') return spreadMs(0, this.config.redispatchJitterMs, Math.random);
    const pauseMs = retryDelayMs(attempt, this.backoff, Math.random);
    return this.budgets.pauseMs(namespace, capability, pauseMs);
  }

  private evidence(
    delivery: OpenDelivery,
    incident: Incident,
    cause: Attribution,
    verdict: RetryVerdict,
    rawError: unknown,
  ): string {
    const agent = this.table.get(agentKey(delivery.namespace, delivery.agentId));
    const { kind, ...seen } = incident;
    return storableJson({
      delivery_id: deliveryIdOf(delivery.taskId, delivery.fence),
      incident: kind,
      seen: snakeKeys(seen),
      work: cause.evidenceOfWork,
      idempotent: delivery.idempotent,
      attempt: delivery.attempt,
      max_attempts: delivery.maxAttempts,
      verdict: verdict.retry ? 'retry' : verdict.because,
      agent:
        agent === undefined
          ? null
          : {
              state: agent.state,
              state_reason: agent.stateReason,
              in_flight: agent.held.size,
              max_concurrency: agent.maxConcurrency,
            },
      ...(rawError !== undefined && { raw_error: bounded(rawError) }),
    });
  }
}

function errorJson(cause: Attribution, delivery: OpenDelivery, message: string, rawError: unknown): string {
  return storableJson({
    code: wireCode(cause.code),
    message,
    retryable: delivery.idempotent || cause.evidenceOfWork === 'never_started',
    agent_id: delivery.agentId,
    ...(rawError !== undefined && { raw_error: bounded(rawError) }),
  });
}

/** A raw error of sane size as it is, a huge one as the beginning of its text. */
function bounded(rawError: unknown): unknown {
  const text = JSON.stringify(rawError) ?? 'null';
  return text.length <= RAW_ERROR_LIMIT ? rawError : truncate(text, RAW_ERROR_LIMIT);
}

function snakeKeys(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, v]) => [
      key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`),
      v as unknown,
    ]),
  );
}
