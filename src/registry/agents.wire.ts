import { z } from 'zod';
import {
  capabilityName,
  capabilityNamed,
  deliveryId,
  durationMs,
  json,
  namespace,
  page,
  pageQuery,
  plainHttpUrl,
  timestamp,
  userId,
  uuid,
} from '../platform/wire/primitives.js';
import { AGENT_STATES } from '../core/agent-state.js';
import { agentFacts, agentWindow, breakerView } from './agent-facts.wire.js';
import { dependency } from './dependency.wire.js';

export const agentId = userId('agent_id');
export const agentState = z.enum(AGENT_STATES);

const capabilityDeclaration = z.object({
  name: capabilityName,
  version: z.string().max(64).optional(),
  description: z.string().max(1000).optional(),
  input_schema: z.record(z.string(), json).optional(),
  output_schema: z.record(z.string(), json).optional(),
  fallbacks: z.array(capabilityName).max(16).optional(),
});
export type CapabilityDeclaration = z.output<typeof capabilityDeclaration>;

/** Elsewhere `name@range` asks for a version; here it would be a name. */
const bareName = capabilityNamed('; a version is a field of its own: {"name": "work", "version": "2.1.0"}');

export const capability = z
  .union([bareName, capabilityDeclaration])
  .transform((c) => (typeof c === 'string' ? { name: c } : c));

export const capacityReport = z.object({
  queued: z.number().int().min(0).max(1_000_000).optional(),
  pool_usage: z.number().min(0).max(1).optional().meta({ description: 'share of the pool in use, 0 to 1' }),
  avg_task_ms: z.number().min(0).max(86_400_000).optional(),
  in_flight: z.number().int().min(0).max(1_000_000).optional(),
  loop_delay_ms: z.number().min(0).max(86_400_000).optional(),
});

export const registerBody = z
  .object({
    namespace,
    agent_id: agentId,
    name: userId('name')
      .optional()
      .meta({ description: 'Logical agent; instances of one name form a group.' }),
    capabilities: z.array(capability).min(1).max(64),
    dependencies: z.array(dependency).max(64).default([]),
    transport: z.enum(['pull', 'session', 'push']).default('pull'),
    endpoint: plainHttpUrl(
      'agents know an offer by its lease_id, and endpoints are shown to whoever asks for advice',
    ).optional(),
    heartbeat_interval_ms: durationMs(100, 3_600_000).optional(),
    lease_ttl_ms: durationMs(300, 86_400_000).optional(),
    capacity: capacityReport.optional(),
    max_concurrency: z.number().int().min(1).max(100_000).default(1),
    weight: z.number().int().min(1).max(10_000).default(100),
    tags: z.array(userId('tag', 64)).max(32).default([]),
    metadata: z.record(z.string().max(64), json).default({}),
    features: z
      .array(userId('feature', 64))
      .max(32)
      .default([])
      .meta({ description: '"echo": it answers echo frames in its session, and is warmed up by them.' }),
    lease_id: uuid.optional().meta({
      description: 'The id of the new lease, chosen by the agent: the same call asked again is known by it.',
    }),
    replaces_lease_id: uuid.optional().meta({
      description:
        'Register only if this is the last lease of the agent: for a process that lost its lease and must not ' +
        'displace another that took over meanwhile (409 REACH_LEASE_SUPERSEDED).',
    }),
  })
  .refine((b) => b.transport !== 'push' || b.endpoint !== undefined, {
    path: ['endpoint'],
    message: 'transport "push" needs the endpoint to push to',
  })
  .meta({ id: 'RegisterRequest' });
export type RegisterBody = z.output<typeof registerBody>;

export const registerAnswer = z
  .object({
    agent_id: z.string(),
    namespace: z.string(),
    lease_id: uuid,
    lease_ttl_ms: z.number().int(),
    heartbeat_interval_ms: z.number().int(),
    state: agentState,
    superseded_lease_id: uuid.optional().meta({ description: 'The lease that this registration ended.' }),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'RegisterAnswer' });

export const leaseBody = z
  .object({
    namespace,
    agent_id: agentId,
    lease_id: uuid,
    capacity: capacityReport.optional(),
    running: z
      .array(deliveryId)
      .max(10_000)
      .optional()
      .meta({ description: 'Deliveries the agent still works on; the answer names the stale ones.' }),
  })
  .meta({ id: 'LeaseRequest' });
export type LeaseBody = z.output<typeof leaseBody>;

export const staleDelivery = z.object({
  delivery_id: deliveryId,
  reason: z
    .string()
    .meta({ description: 'Code that tells why it is no longer the agent’s, e.g. REACH_CANCELED' }),
});

export const leaseAnswer = z
  .object({
    lease_ttl_ms: z.number().int(),
    state: agentState,
    drain: z.boolean().meta({ description: 'true: finish what runs, take nothing new' }),
    stale: z.array(staleDelivery),
  })
  .meta({ id: 'LeaseAnswer' });

export const deregisterBody = z
  .object({ namespace, agent_id: agentId, lease_id: uuid, drain_ms: durationMs(0, 3_600_000).optional() })
  .meta({ id: 'DeregisterRequest' });

export const drainBody = z
  .object({ drain_ms: durationMs(0, 3_600_000).optional() })
  .default({})
  .meta({ id: 'DrainRequest' });

export const removalAnswer = z
  .object({ agent_id: z.string(), state: agentState, drain_until: timestamp })
  .meta({ id: 'RemovalAnswer' });

export const holdBody = z
  .object({ reason: z.string().max(500).default('') })
  .default({ reason: '' })
  .meta({ id: 'HoldRequest' });

export const agentsQuery = pageQuery.extend({
  namespace,
  capability: capabilityName.optional(),
  name: userId('name').optional(),
  state: agentState.optional(),
  tag: userId('tag', 64).optional(),
  include_removed: z.stringbool().default(false),
  facts: z.stringbool().default(false).meta({ description: 'true: with the facts behind each state' }),
});

export const namespaceQuery = z.object({ namespace });

export const agentView = z
  .object({
    namespace: z.string(),
    agent_id: z.string(),
    name: z.string(),
    capabilities: z.array(z.object({ name: z.string(), version: z.string().optional() }).loose()),
    dependencies: z.array(z.record(z.string(), json)),
    transport: z.string(),
    endpoint: z.string().optional(),
    source: z.string().optional().meta({ description: 'What registered it on its behalf: consul or nacos.' }),
    state: agentState,
    state_reason: z.string(),
    state_since: timestamp,
    max_concurrency: z.number().int(),
    in_flight: z.number().int().meta({ description: 'deliveries offered to or running at the agent now' }),
    weight: z.number().int(),
    tags: z.array(z.string()),
    metadata: z.record(z.string(), json),
    heartbeat_interval_ms: z.number().int(),
    last_heartbeat_at: timestamp,
    lease_expires_at: timestamp,
    capacity: capacityReport.nullable(),
    registered_at: timestamp,
    removed_at: timestamp.optional(),
    breaker: breakerView.optional().meta({
      description:
        'It failed of late and gets less work, or none, as the answering replica saw it. Absent: its usual work.',
    }),
    held: z
      .object({ reason: z.string(), since: timestamp })
      .optional()
      .meta({ description: 'An operator holds it out of service; its state is judged all the same.' }),
  })
  .meta({ id: 'Agent' });

export const agentTransition = z
  .object({
    kind: z
      .enum(['transition', 'hold', 'release'])
      .meta({ description: 'hold, release: an operator’s order, which leaves the state as it is' }),
    at: timestamp,
    from_state: agentState.nullable(),
    to_state: agentState,
    reason: z.string(),
    facts: z.record(z.string(), json),
    evidence: z
      .record(z.string(), json)
      .meta({ description: 'What was observed; of an order, who gave it (`by`).' }),
  })
  .meta({ id: 'AgentTransition' });

export const agentDetail = agentView
  .extend({
    facts: agentFacts,
    windows: z
      .object({ probes: agentWindow.optional(), work: agentWindow.optional() })
      .meta({ description: 'The last ten minutes, as the answering replica saw them.' }),
    history: z.array(agentTransition),
  })
  .meta({ id: 'AgentDetail' });
export const listedAgent = agentView
  .extend({ facts: agentFacts.optional().meta({ description: 'Where they were asked for.' }) })
  .meta({ id: 'ListedAgent' });
export const agentsPage = page(listedAgent).meta({ id: 'AgentPage' });
