import { z } from 'zod';
import { AGENT_STATES } from '../core/agent-state.js';
import { json, timestamp } from '../platform/wire/primitives.js';
import { agentId, namespaceQuery } from '../registry/agents.wire.js';

export const EVENT_TYPES = ['transition', 'hold', 'release', 'doubt', 'trust'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

const eventTypes = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(EVENT_TYPES)).min(1));

export const eventsQuery = namespaceQuery.extend({
  agent_id: agentId.optional(),
  type: eventTypes.optional().meta({
    description:
      'Comma separated: transition (of an agent’s state), hold and release (an operator’s order), doubt and trust ' +
      '(of a replica’s prober in itself)',
  }),
  last_event_id: z.string().max(100).optional().meta({
    description: 'As the header Last-Event-ID, which goes before it; 0: from the oldest that is kept',
  }),
});

export const feedEvent = z
  .object({
    event_id: z.string(),
    type: z.enum(EVENT_TYPES),
    at: timestamp,
    namespace: z.string().optional().meta({ description: 'absent: it is about a replica' }),
    agent_id: z.string().optional(),
    replica_id: z.string().optional().meta({ description: 'whose prober doubts or trusts itself' }),
    from_state: z.enum(AGENT_STATES).nullable().optional(),
    to_state: z.enum(AGENT_STATES).optional(),
    reason: z.string(),
    facts: z.record(z.string(), json),
    evidence: z.record(z.string(), json),
  })
  .meta({ id: 'FeedEvent' });
