import type { Transport } from '../../registry/agent-row.js';
import type { OfferedTask } from '../placement.store.js';
import { deliveryIdOf } from '../../core/task-state.js';

/** A committed offer on its way to the agent. */
export interface Offered {
  deliveryId: string;
  agentKey: string;
  leaseId: string;
  /** The way it was meant to go when it was committed. */
  transport: Transport;
  endpoint: string | undefined;
  ackDeadline: Date;
  ackTimeoutMs: number;
  frame: OfferedTask;
}

/** The offer as JSON text. The payload is spliced in as it stands in the ledger: no parse, no copy. */
export function offerJson(o: OfferedTask): string {
  const head = JSON.stringify({
    delivery_id: deliveryIdOf(o.id, o.fence),
    task_id: o.id,
    attempt: o.attempt,
    fence: o.fence,
    capability: o.capability,
    ack_deadline: o.deadline_at,
    execution_timeout_ms: o.execution_timeout_ms,
    idempotent: o.idempotent,
    ...(o.traceparent !== null && { traceparent: o.traceparent }),
    ...(o.parent_task_id !== null && { parent_task_id: o.parent_task_id }),
  });
  return `${head.slice(0, -1)},"payload":${o.payload}}`;
}
