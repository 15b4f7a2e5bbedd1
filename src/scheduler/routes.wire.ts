import { z } from 'zod';
import { namespace, queryInt, timestamp, userId } from '../platform/wire/primitives.js';
import { rejectedView } from './decision.wire.js';
import { capabilityRef } from './tasks.wire.js';

export const routeCapability = capabilityRef.meta({ description: '`name` or `name@range`' });

export const routeQuery = z.object({
  namespace,
  source_agent_id: userId('agent_id').optional().meta({ description: 'the agent that asks: never itself' }),
  zone: userId('zone', 64).optional(),
  limit: queryInt(1, 10).default(3),
});
export type RouteQuery = z.output<typeof routeQuery>;

const routeCandidate = z
  .object({
    agent_id: z.string(),
    endpoint: z.string().meta({ description: 'agents without one cannot be called, and are passed over' }),
    score: z.number().meta({ description: '0 to 100' }),
    estimated_p95_ms: z.number().optional().meta({ description: 'absent where it did nothing of late' }),
    expires_in: z.number().int().meta({ description: 'seconds for which this may be relied upon' }),
    throttled: z.boolean().meta({ description: 'it is coming back from failures: call it last' }),
    free_slots: z.number().int(),
  })
  .meta({ id: 'RouteCandidate' });

export const routeAnswer = z
  .object({
    updated_at: timestamp,
    candidates: z.array(routeCandidate).meta({ description: 'to be tried in this order' }),
    retry_after_ms: z.number().int().meta({
      description: 'wait so long before asking again; random, so that callers do not come back all at once',
    }),
    rejected: rejectedView.meta({ description: 'who was passed over; of a large fleet, of those looked at' }),
  })
  .meta({ id: 'Route' });

/** Failures that say something about the agent. */
const OUTCOME_CODES = ['AGENT_ERROR', 'EXECUTION_TIMEOUT', 'CONNECTION_FAILED', 'DEPENDENCY_DOWN'] as const;

const outcome = z
  .object({
    agent_id: userId('agent_id'),
    capability: z.string().min(1).max(128).meta({ description: 'one that the agent offers' }),
    ok: z.boolean(),
    took_ms: z.number().min(0).max(604_800_000),
    code: z.enum(OUTCOME_CODES).optional().meta({ description: 'of a failure; AGENT_ERROR unless told' }),
  })
  .refine((o) => !o.ok || o.code === undefined, {
    path: ['code'],
    error: 'is the code of a failure, and ok is true',
  });

export const outcomesBody = z
  .object({ namespace, outcomes: z.array(outcome).min(1).max(1000) })
  .meta({ id: 'OutcomesRequest' });
export type OutcomesBody = z.output<typeof outcomesBody>;

export const outcomesAnswer = z
  .object({
    counted: z.number().int(),
    ignored: z.array(z.object({ position: z.number().int(), reason: z.string() })).meta({
      description: 'those that say nothing: no such agent, or not a capability of its',
    }),
  })
  .meta({ id: 'OutcomesAnswer' });
