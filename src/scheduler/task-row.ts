import type { z } from 'zod';
import { type PackedDecision, unpackDecision } from '../core/decision.js';
import { wireCode } from '../core/errors.js';
import { requirementOf } from '../core/lane.js';
import type { Policy } from '../core/policy.js';
import { deliveryIdOf, type DeliveryOutcome, type TaskState } from '../core/task-state.js';
import { toDecisionView } from './decision-view.js';
import type { deliveryView, taskDetail, taskError, taskView } from './tasks.wire.js';

/** What a task was given to in place of what it asked for. */
export interface FallbackUsed {
  from: string;
  to: string;
  reason: string;
  at: string;
}

/** A row of `tasks` without its payload. */
export interface TaskRow {
  id: string;
  namespace: string;
  lane: string;
  capability: string;
  /** the name that was asked for, where that was an alias; absent in lists */
  asked?: string | null;
  priority: number;
  idempotent: boolean;
  affinity_key: string | null;
  parent_task_id: string | null;
  /** the agents that handle its ancestors; absent in lists */
  chain?: string[] | null;
  retry_of: string | null;
  ack_timeout_ms: number;
  execution_timeout_ms: number;
  max_attempts: number;
  run_at: Date;
  expires_at: Date | null;
  ends_at: Date | null;
  state: TaskState;
  fence: number;
  attempt: number;
  agent_id: string | null;
  lease_id: string | null;
  transport: string | null;
  offered_at: Date | null;
  acked_at: Date | null;
  deadline_at: Date | null;
  progress: { note?: string } | null;
  /** absent in lists, as the next two are */
  result?: unknown;
  decision?: PackedDecision | null;
  policy?: Policy | null;
  meta: Record<string, unknown> | null;
  error: z.input<typeof taskError> | null;
  /** what it was given to in place of what it asked for */
  fallback: FallbackUsed | null;
  created_at: Date;
  finished_at: Date | null;
}

/** A row of `deliveries`: a closed delivery. */
export interface DeliveryRow {
  fence: number;
  attempt: number;
  agent_id: string;
  transport: string;
  outcome: DeliveryOutcome;
  code: string | null;
  offered_at: Date;
  acked_at: Date | null;
  finished_at: Date;
  decision: PackedDecision | null;
  /** By which it was decided. */
  policy: Policy | null;
}

/** The task as the API shows it. */
export function toTaskView(t: TaskRow): z.input<typeof taskView> {
  const { namespace: _, ...requirement } = requirementOf(t.lane);
  return {
    task_id: t.id,
    namespace: t.namespace,
    state: t.state,
    capability: t.capability,
    ...(t.asked != null && { asked: t.asked }),
    requirement,
    priority: t.priority,
    idempotent: t.idempotent,
    attempt: t.attempt,
    max_attempts: t.max_attempts,
    ...(t.agent_id !== null && { agent_id: t.agent_id }),
    created_at: t.created_at.toISOString(),
    run_at: t.run_at.toISOString(),
    ...(t.expires_at !== null && { expires_at: t.expires_at.toISOString() }),
    ...(t.ends_at !== null && { ends_at: t.ends_at.toISOString() }),
    ...(t.finished_at !== null && { finished_at: t.finished_at.toISOString() }),
    ...(t.parent_task_id !== null && { parent_task_id: t.parent_task_id }),
    ...(t.chain != null && { chain: t.chain }),
    ...(t.fallback !== null && { fallback_used: fallbackView(t.fallback) }),
    ...(t.retry_of !== null && { retry_of: t.retry_of }),
    ...(t.progress !== null && { progress: t.progress }),
    ...(t.state === 'succeeded' && t.result !== undefined && { result: t.result }),
    ...(t.meta !== null && { meta: t.meta }),
    ...(t.error !== null && { error: t.error }),
  };
}

/** As it is shown: the time as everywhere, and not the lane that it came from. */
export function fallbackView({ from, to, reason, at }: FallbackUsed): FallbackUsed {
  return { from, to, reason, at: new Date(at).toISOString() };
}

/** The task with its payload and every delivery, oldest first. */
export function toTaskDetail(
  t: TaskRow & { payload: unknown },
  closed: readonly DeliveryRow[],
): z.input<typeof taskDetail> {
  const deliveries = closed.map((d) => toDeliveryView(t.id, d));
  const open = openDeliveryOf(t);
  if (open !== undefined) deliveries.push(open);
  return { ...toTaskView(t), payload: t.payload, deliveries };
}

/** A closed delivery as the API shows it. */
export function toDeliveryView(taskId: string, d: DeliveryRow): z.input<typeof deliveryView> {
  return {
    delivery_id: deliveryIdOf(taskId, d.fence),
    attempt: d.attempt,
    fence: d.fence,
    agent_id: d.agent_id,
    transport: d.transport,
    state: d.outcome,
    ...(d.code !== null && { code: wireCode(d.code) }),
    offered_at: d.offered_at.toISOString(),
    ...(d.acked_at !== null && { acked_at: d.acked_at.toISOString() }),
    finished_at: d.finished_at.toISOString(),
    ...decided(d.agent_id, d.decision, d.policy),
  };
}

function decided(
  agentId: string,
  decision: PackedDecision | null | undefined,
  policy: Policy | null | undefined,
) {
  return decision && { decision: toDecisionView(agentId, unpackDecision(decision), policy ?? undefined) };
}

/** The delivery that is open now, which stands in the task's own row. */
export function openDeliveryOf(t: TaskRow): z.input<typeof deliveryView> | undefined {
  if (t.state !== 'offered' && t.state !== 'running') return undefined;
  if (t.agent_id === null || t.offered_at === null) return undefined;
  return {
    delivery_id: deliveryIdOf(t.id, t.fence),
    attempt: t.attempt,
    fence: t.fence,
    agent_id: t.agent_id,
    transport: t.transport ?? 'pull',
    state: t.state,
    offered_at: t.offered_at.toISOString(),
    ...(t.acked_at !== null && { acked_at: t.acked_at.toISOString() }),
    ...(t.deadline_at !== null && { deadline_at: t.deadline_at.toISOString() }),
    ...decided(t.agent_id, t.decision, t.policy),
  };
}
