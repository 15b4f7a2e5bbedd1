import { Inject, Injectable } from '@nestjs/common';
import { parseCode, ReachError, wireCode, type ErrorCode } from '../core/errors.js';
import { isTerminal, parseDeliveryId, type TaskState } from '../core/task-state.js';
import { storableJson, storableText, truncate } from '../core/text.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { toReachError } from '../platform/http/to-reach-error.js';
import { failpoint } from '../platform/lifecycle/failpoints.js';
import { agentKey } from '../registry/agent-row.js';
import { ReachTable } from '../registry/reach-table.js';
import { Closer, type OpenDelivery } from './closer.js';
import { DeadlineAlarm } from './deadline-alarm.js';
import { DeliveryStore, type Inspection, type LeasedRef, type Noted } from './delivery.store.js';
import { openDelivery } from './held-delivery.js';
import { SchedulerMetrics } from './scheduler-metrics.js';
import { requireSize } from './size-limit.js';
import { TaskTokens } from './tokens/task-tokens.js';
import type { Operation, OperationAnswer } from './deliveries.wire.js';

/** Codes that an agent may give for its failure; any other is kept in the raw error of an AGENT_ERROR. */
const REPORTABLE: ReadonlySet<ErrorCode> = new Set([
  'AGENT_ERROR',
  'AGENT_REFUSED',
  'DEPENDENCY_DOWN',
  'CONTRACT_MISMATCH',
  'CONNECTION_FAILED',
  'PAYLOAD_TOO_LARGE',
]);
const REPORT_LIMIT = 1000;

export type AckResult = { execute: true; deadline: string } | { execute: false; reason: string };

/** What agents say of their deliveries. The same call repeated gets the same answer. */
@Injectable()
export class Deliveries {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly store: DeliveryStore,
    private readonly closer: Closer,
    private readonly alarm: DeadlineAlarm,
    private readonly metrics: SchedulerMetrics,
    private readonly table: ReachTable,
    private readonly tokens: TaskTokens,
  ) {}

  /** The claim: only `execute: true` lets the agent begin. */
  async ack(deliveryId: string, leaseId: string): Promise<AckResult> {
    const ref = leasedRef(deliveryId, leaseId);
    const acknowledged = await this.store.ack(ref);
    if (acknowledged !== undefined) {
      failpoint('ack_after_commit');
      this.alarm.set(acknowledged.deadlineInMs);
      return { execute: true, deadline: acknowledged.deadlineAt.toISOString() };
    }
    const now = await this.store.inspect(ref);
    if (now?.state === 'running' && isCurrent(ref, now) && now.deadline_at !== null)
      return { execute: true, deadline: now.deadline_at.toISOString() };
    this.metrics.late('ack');
    const lapsed = now?.state === 'offered' && isCurrent(ref, now) && now.expired;
    return { execute: false, reason: wireCode(lapsed ? 'TASK_EXPIRED' : staleCode(ref, now)) };
  }

  /** @throws ReachError when the delivery is not running under this lease */
  async progress(
    deliveryId: string,
    leaseId: string,
    extendMs?: number,
    note?: string,
  ): Promise<{ deadline: string; token?: string }> {
    const ref = leasedRef(deliveryId, leaseId);
    const write = {
      ...ref,
      extendMs: extendMs ?? null,
      note: note === undefined ? null : storableJson({ note: storableText(note) }),
    };
    let noted = await this.store.progress(write);
    if (noted === undefined) {
      const now = await this.store.inspect(ref);
      // A push agent may report while its ACK is being written: what was offered a moment ago runs now.
      if (now?.state === 'running' && isCurrent(ref, now)) noted = await this.store.progress(write);
      if (noted === undefined) {
        this.metrics.late('progress');
        throw staleError(ref, now);
      }
    }
    const deadline = noted.deadlineAt.toISOString();
    const token = extendMs === undefined ? undefined : await this.tokenOf(ref, noted);
    return { deadline, ...(token !== undefined && { token }) };
  }

  /** The token of a delivery that was given more time. */
  private tokenOf({ taskId, fence }: LeasedRef, noted: Noted): Promise<string | undefined> {
    const agent = this.table.get(agentKey(noted.namespace, noted.agentId));
    const capability = agent?.nameOf(noted.capability) ?? noted.capability;
    return this.tokens.sign(agent, { taskId, fence, capability, endsAt: noted.deadlineAt });
  }

  /**
   * @throws ReachError when the delivery is not current (a repeated result of the current one is accepted), or
   * PAYLOAD_TOO_LARGE; the task then stays as it is, for the agent to report less or a failure
   */
  async complete(
    deliveryId: string,
    leaseId: string,
    outputs: unknown,
    meta?: object,
  ): Promise<{ state: TaskState }> {
    const ref = leasedRef(deliveryId, leaseId);
    const write = {
      ...ref,
      result: storableJson(outputs),
      meta: meta === undefined ? null : storableJson(meta),
    };
    requireSize('outputs', write.result, this.config.payloadLimitBytes);
    requireSize('meta', write.meta ?? '', this.config.payloadLimitBytes);
    failpoint('result_before_commit');
    const done = await this.store.complete(write);
    failpoint('result_after_commit');
    if (done === true) return { state: 'succeeded' };
    const now = await this.store.inspect(ref);
    if (now?.outcome === 'succeeded' && now.closed_lease_id === leaseId) return { state: now.state };
    this.metrics.late('complete');
    throw staleError(ref, now);
  }

  /** @throws ReachError when the delivery is not current; a repeated failure of the same one is accepted */
  async fail(deliveryId: string, leaseId: string, report: FailReport): Promise<{ state: TaskState }> {
    const ref = leasedRef(deliveryId, leaseId);
    const now = await this.store.inspect(ref);
    if (now !== undefined && isCurrent(ref, now) && (now.state === 'offered' || now.state === 'running')) {
      const incident = incidentOf(now.agent_id ?? '', report);
      const state = await this.closer.fail(openOf(ref, now, now.state), incident, report.raw_error);
      if (state !== undefined) return { state };
      return this.repeated(ref, report, await this.store.inspect(ref));
    }
    return this.repeated(ref, report, now);
  }

  /** A failure that was counted already. One that the centre found itself (a timeout, a lost lease) is another. */
  private repeated(ref: LeasedRef, report: FailReport, now: Inspection | undefined): { state: TaskState } {
    const counted = now?.outcome === 'failed' && now.closed_lease_id === ref.leaseId;
    if (counted && now.closed_code === codeOf(report)) return { state: now.state };
    this.metrics.late('fail');
    throw staleError(ref, now);
  }

  /** Any operation; never rejects for what the agent did. */
  async operate(leaseId: string, op: Operation): Promise<OperationAnswer> {
    const delivery_id = op.delivery_id;
    try {
      switch (op.op) {
        case 'ack':
          return { delivery_id, ...(await this.ack(delivery_id, leaseId)) };
        case 'progress':
          return { delivery_id, ...(await this.progress(delivery_id, leaseId, op.extend_ms, op.note)) };
        case 'complete':
          return { delivery_id, ...(await this.complete(delivery_id, leaseId, op.outputs, op.meta)) };
        case 'fail':
          return { delivery_id, ...(await this.fail(delivery_id, leaseId, op)) };
      }
    } catch (error) {
      const known =
        toReachError(error) ??
        new ReachError('INTERNAL', 'the operation failed; see the log', { cause: error });
      return { delivery_id, error: { code: wireCode(known.code), detail: known.message } };
    }
  }

  /** Of these deliveries, those that are not the lease's any more, with the reason. */
  async stale(
    leaseId: string,
    deliveryIds: readonly string[],
  ): Promise<{ delivery_id: string; reason: string }[]> {
    if (deliveryIds.length === 0) return [];
    const refs = deliveryIds.map((id) => leasedRef(id, leaseId));
    const found = await this.store.inspectAll(refs);
    return refs.flatMap((ref, i) => {
      const now = found[i];
      const held = now !== undefined && isCurrent(ref, now) && !isTerminal(now.state);
      return held ? [] : [{ delivery_id: deliveryIds[i] as string, reason: wireCode(staleCode(ref, now)) }];
    });
  }
}

export interface FailReport {
  code: string;
  message: string;
  retryable?: boolean | undefined;
  dependency?: string | undefined;
  raw_error?: unknown;
}

/** The code under which a report is counted. */
function codeOf(report: FailReport): ErrorCode {
  const known = parseCode(report.code);
  return known !== undefined && REPORTABLE.has(known) ? known : 'AGENT_ERROR';
}

function incidentOf(agentId: string, report: FailReport) {
  const code = codeOf(report);
  return {
    kind: 'reported' as const,
    agentId,
    code,
    ...(code !== parseCode(report.code) && { foreignCode: storableText(report.code) }),
    message: truncate(storableText(report.message), REPORT_LIMIT),
    ...(report.dependency !== undefined && { dependency: storableText(report.dependency) }),
    ...(report.retryable !== undefined && { retryable: report.retryable }),
  };
}

function leasedRef(deliveryId: string, leaseId: string): LeasedRef {
  return { ...parseDeliveryId(deliveryId), leaseId };
}

function isCurrent(ref: LeasedRef, now: Inspection): boolean {
  return now.fence === ref.fence && now.lease_id === ref.leaseId;
}

export function openOf(ref: LeasedRef, now: Inspection, state: 'offered' | 'running'): OpenDelivery {
  const { taskId: id, fence, leaseId } = ref;
  return openDelivery({ ...now, id, fence, lease_id: leaseId, agent_id: now.agent_id ?? '' }, state);
}

/** Why a delivery is not the caller's to act on. */
function staleCode(ref: LeasedRef, now: Inspection | undefined): ErrorCode {
  if (now === undefined) return 'NOT_FOUND';
  const wasTheirs = now.closed_lease_id === null || now.closed_lease_id === ref.leaseId;
  const isTheirs = now.fence !== ref.fence || now.lease_id === null || now.lease_id === ref.leaseId;
  if (!wasTheirs || !isTheirs) return 'LEASE_SUPERSEDED';
  if (now.state === 'canceled') return 'CANCELED';
  if (now.state === 'expired') return 'TASK_EXPIRED';
  if (now.fence === ref.fence && now.state === 'offered') return 'STATE_CONFLICT';
  return 'DELIVERY_SUPERSEDED';
}

function staleError(ref: LeasedRef, now: Inspection | undefined): ReachError {
  const code = staleCode(ref, now);
  const name = `delivery ${ref.taskId}.${ref.fence}`;
  const extra = { task_id: ref.taskId };
  switch (code) {
    case 'NOT_FOUND':
      return new ReachError(code, `there is no ${name}`, extra);
    case 'LEASE_SUPERSEDED':
      return new ReachError(
        code,
        `${name} belongs to another lease of the agent; nothing was changed`,
        extra,
      );
    case 'CANCELED':
      return new ReachError(code, `the task of ${name} was canceled; stop its work`, extra);
    case 'STATE_CONFLICT':
      return new ReachError(
        code,
        `${name} was not acknowledged; acknowledge it first and begin on execute: true`,
        extra,
      );
    default:
      return new ReachError(
        code,
        `${name} is over${now?.state === undefined ? '' : ` (the task is ${now.state}, fence ${now.fence})`}; ` +
          'nothing was changed',
        extra,
      );
  }
}
