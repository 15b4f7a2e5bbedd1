import { z } from 'zod';
import { timestamp, userId } from '../platform/wire/primitives.js';
import { STRATEGIES } from '../core/policy.js';
import { filterName, scoredAgent } from './decision.wire.js';
import { checkTarget, constraints, taskTarget } from './tasks.wire.js';

export const simulateBody = z
  .object({
    ...taskTarget,
    constraints: constraints.optional(),
    affinity_key: userId('affinity_key').optional(),
    tried: z.array(userId('agent_id')).max(32).default([]).meta({
      description: 'agents that failed at it before, the last one last',
    }),
    limit: z.number().int().min(1).max(1000).default(100).meta({ description: 'candidates that are shown' }),
  })
  .superRefine(checkTarget)
  .meta({ id: 'SimulateRequest' });
export type SimulateBody = z.output<typeof simulateBody>;

const candidateView = scoredAgent
  .extend({
    name: z.string(),
    state: z.string(),
    verdict: z.enum(['chosen', 'eligible', 'tried', 'rejected']),
    filter: filterName.optional().meta({ description: 'which filter rejected it' }),
    reason: z.string().optional(),
    share: z.number().optional().meta({
      description: 'share of a thousand choices with other seeds that it would be given, 0 to 1',
    }),
  })
  .meta({ id: 'SimulatedCandidate' });

export const simulateAnswer = z
  .object({
    at: timestamp,
    by: z.enum(['selection', 'affinity', 'nobody']),
    chosen: z.string().optional().meta({ description: 'the agent that a task would go to now' }),
    paused: z.string().optional().meta({ description: 'a capability that is paused: a task would wait' }),
    panic: z.boolean().optional().meta({
      description: 'true: nobody is in good standing, so breakers limit nobody',
    }),
    strategy: z.enum(STRATEGIES),
    candidates: z.array(candidateView).meta({
      description: 'the best first, then those that were rejected; at most `limit`',
    }),
    total: z.number().int().meta({ description: 'candidates there are, shown or not' }),
  })
  .meta({ id: 'SimulateAnswer' });
