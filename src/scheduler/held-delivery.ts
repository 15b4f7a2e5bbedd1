import type { OpenDelivery } from './closer.js';
import type { DueRow, OrphanRow } from './sweep.store.js';

/** The delivery that is open in a row of the ledger; undefined where none is. */
export function heldDelivery(row: DueRow | OrphanRow): OpenDelivery | undefined {
  if (row.agent_id === null || row.lease_id === null) return undefined;
  if (row.state !== 'offered' && row.state !== 'running') return undefined;
  return {
    taskId: row.id,
    fence: row.fence,
    leaseId: row.lease_id,
    state: row.state,
    namespace: row.namespace,
    capability: row.capability,
    agentId: row.agent_id,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    idempotent: row.idempotent,
  };
}
