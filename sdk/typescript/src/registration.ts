import { type AgentOptions } from './agent-options.js';
import { type CapabilityDeclaration, type CapacityReport, type RegisterRequest } from './wire.js';

/** What the agent registers with; what its options leave out is left to the centre. */
export function registrationOf(
  options: AgentOptions,
  capabilities: CapabilityDeclaration[],
  capacity: CapacityReport,
): RegisterRequest {
  const optional = {
    name: options.name,
    endpoint: options.endpoint,
    heartbeat_interval_ms: options.heartbeatIntervalMs,
    lease_ttl_ms: options.leaseTtlMs,
    weight: options.weight,
    tags: options.tags,
    metadata: options.metadata,
    dependencies: options.dependencies,
  };
  return {
    namespace: options.namespace ?? 'default',
    agent_id: options.agentId,
    capabilities,
    max_concurrency: options.maxConcurrency ?? 1,
    capacity,
    ...(Object.fromEntries(
      Object.entries(optional).filter(([, v]) => v !== undefined),
    ) as Partial<RegisterRequest>),
  };
}
