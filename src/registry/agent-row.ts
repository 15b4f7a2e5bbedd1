import type { AgentState } from '../core/agent-state.js';
import type { DeclaredDependency, StoredFacts } from './agent-facts.js';

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
  /** What registered it (`consul`, `nacos`), and what of it was taken over; null: it registered itself. */
  source: string | null;
  source_digest: string | null;
}

/** One string for (namespace, agent id); neither can hold a NUL. Key of everything kept per agent. */
export function agentKey(namespace: string, agentId: string): string {
  return `${namespace}\u0000${agentId}`;
}
