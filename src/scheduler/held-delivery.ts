import type { OpenDelivery } from './closer.js';

/** What a row of the ledger says of the delivery that is open in it. */
interface Holding {
  id: string;
  fence: number;
  lease_id: string;
  namespace: string;
  capability: string;
  agent_id: string;
  attempt: number;
  max_attempts: number;
  idempotent: boolean;
}

type Row = Omit<Holding, 'lease_id' | 'agent_id'> & {
  state: string;
  lease_id: string | null;
  agent_id: string | null;
};

/** The delivery that is open in a row which is known to hold one. */
export function openDelivery(row: Holding, state: OpenDelivery['state']): OpenDelivery {
  return {
    taskId: row.id,
    fence: row.fence,
    leaseId: row.lease_id,
    state,
    namespace: row.namespace,
    capability: row.capability,
    agentId: row.agent_id,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    idempotent: row.idempotent,
  };
}

/** The delivery that is open in a row of the ledger; undefined where none is. */
export function heldDelivery(row: Row): OpenDelivery | undefined {
  const { state, lease_id, agent_id } = row;
  if (agent_id === null || lease_id === null) return undefined;
  if (state !== 'offered' && state !== 'running') return undefined;
  return openDelivery({ ...row, lease_id, agent_id }, state);
}
