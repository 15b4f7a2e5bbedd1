import type { Transport } from '../../registry/agent-row.js';
import type { OfferedTask } from '../placement.store.js';
import { deliveryIdOf } from '../../core/task-state.js';
import { fallbackView } from '../task-row.js';

/** A committed offer on its way to the agent. */
export interface Offered {
  deliveryId: string;
  agentKey: string;
  leaseId: string;
  /** The way it was meant to go when it was committed. */
  transport: Transport;
  endpoint: string | undefined;
  ackTimeoutMs: number;
  /** When that is over, in ms of the monotonic clock: the time of day in the frame is the database's. */
  ackUntil: number;
  /** How many deliveries the agent may hold. */
  slots: number;
  frame: OfferedTask;
}

/** Whether the task has to have started: nobody is to be offered it any more. */
export function isLapsed(o: OfferedTask, nowMs = performance.now()): boolean {
  return o.start_in_ms !== null && leftOf(o.start_in_ms, o, nowMs) <= 0;
}

/** When its delivery is over at the latest: acknowledged in the last moment, it may run for as long as it may. */
export function endOf(o: OfferedTask): Date {
  return new Date(o.deadline_at.getTime() + o.execution_timeout_ms);
}

const leftOf = (inMs: number, o: OfferedTask, nowMs: number): number => inMs - (nowMs - o.read_at);

/**
 * The offer as JSON text. Put together by hand: the payload goes in as it stands in the ledger, without a parse or
 * a copy, and only what callers wrote needs quoting.
 */
export function offerJson(o: OfferedTask, token?: string, nowMs = performance.now()): string {
  const left =
    o.end_in_ms === null ? '' : `,"time_left_ms":${Math.max(0, Math.floor(leftOf(o.end_in_ms, o, nowMs)))}`;
  const traceparent = o.traceparent === null ? '' : `,"traceparent":${JSON.stringify(o.traceparent)}`;
  const parent = o.parent_task_id === null ? '' : `,"parent_task_id":"${o.parent_task_id}"`;
  const fallback = o.fallback === null ? '' : `,"fallback_used":${JSON.stringify(fallbackView(o.fallback))}`;
  const shown = token === undefined ? '' : `,"token":"${token}"`;
  return (
    `{"delivery_id":"${deliveryIdOf(o.id, o.fence)}","task_id":"${o.id}","attempt":${o.attempt},` +
    `"fence":${o.fence},"capability":${JSON.stringify(o.capability)},` +
    `"ack_deadline":"${o.deadline_at.toISOString()}","execution_timeout_ms":${o.execution_timeout_ms},` +
    `"idempotent":${o.idempotent}${left}${traceparent}${parent}${fallback}${shown},"payload":${o.payload}}`
  );
}
