import type { z } from 'zod';
import type { AgentState } from '../core/agent-state.js';
import type { DeclaredDependency, StoredFacts } from './agent-facts.js';
import type { agentView } from './agents.wire.js';

export type Transport = 'pull' | 'session' | 'push';

export interface DeclaredCapability {
  name: string;
  version?: string;
  [key: string]: unknown;
}

/** A row of `agents` as Postgres gives it. */
export interface AgentRow {
  namespace: string;
  agent_id: string;
  name: string;
  capabilities: DeclaredCapability[];
  dependencies: DeclaredDependency[];
  transport: Transport;
  endpoint: string | null;
  max_concurrency: number;
  weight: number;
  tags: string[];
  metadata: Record<string, unknown>;
  heartbeat_interval_ms: number;
  lease_ttl_ms: number;
  lease_id: string;
  lease_expires_at: Date;
  last_heartbeat_at: Date;
  capacity: Record<string, number> | null;
  state: AgentState;
  state_reason: string;
  state_since: Date;
  drain_until: Date | null;
  removed_at: Date | null;
  registered_at: Date;
  rev: number;
  features: string[];
  facts: StoredFacts;
  hold_reason: string | null;
  held_since: Date | null;
}

/** One string for (namespace, agent id); neither can hold a NUL. Key of everything kept per agent. */
export function agentKey(namespace: string, agentId: string): string {
  return `${namespace}\u0000${agentId}`;
}

/** The row as the API shows it. `inFlight`: deliveries it holds now. */
export function toAgentView(row: AgentRow, inFlight: number): z.input<typeof agentView> {
  return {
    namespace: row.namespace,
    agent_id: row.agent_id,
    name: row.name,
    capabilities: row.capabilities,
    dependencies: row.dependencies,
    transport: row.transport,
    ...(row.endpoint !== null && { endpoint: row.endpoint }),
    state: row.state,
    state_reason: row.state_reason,
    state_since: row.state_since.toISOString(),
    max_concurrency: row.max_concurrency,
    in_flight: inFlight,
    weight: row.weight,
    tags: row.tags,
    metadata: row.metadata,
    heartbeat_interval_ms: row.heartbeat_interval_ms,
    last_heartbeat_at: row.last_heartbeat_at.toISOString(),
    lease_expires_at: row.lease_expires_at.toISOString(),
    capacity: row.capacity,
    registered_at: row.registered_at.toISOString(),
    ...(row.removed_at !== null && { removed_at: row.removed_at.toISOString() }),
  };
}
