import { z } from 'zod';
import { STRATEGIES } from '../core/policy.js';
import { FILTER_NAMES } from '../core/eligibility.js';

/** An agent, its score, and the figures behind it: of this kind of work, as far as the deciding replica saw it. */
export const scoredAgent = z.object({
  agent_id: z.string(),
  score: z.number().optional().meta({ description: '0 to 1; the sum of its parts' }),
  parts: z.record(z.string(), z.number()).optional(),
  success_rate: z.number().optional().meta({ description: '0 to 1; absent where it did nothing of late' }),
  p50_ms: z.number().optional(),
  p95_ms: z.number().optional(),
  idle_ms: z.number().optional().meta({ description: 'since its last sign of life' }),
  consecutive_failures: z.number().int(),
  in_flight: z.number().int(),
  max_concurrency: z.number().int().meta({
    description: 'slots it might use then: while it comes back from failures fewer than it declared',
  }),
  weight: z.number(),
  throttled: z.boolean().optional().meta({ description: 'true: it is coming back from failures' }),
});

export const filterName = z.enum(FILTER_NAMES);

export const rejectedView = z.object({
  counts: z.partialRecord(filterName, z.number().int()).meta({ description: 'how many by each filter' }),
  named: z
    .array(z.object({ agent_id: z.string(), filter: filterName, reason: z.string() }))
    .meta({ description: 'at most ten of them' }),
});

export const decisionView = z
  .object({
    by: z
      .enum(['selection', 'affinity'])
      .meta({ description: 'by score and strategy, or by the affinity key of the task' }),
    strategy: z.enum(STRATEGIES).optional(),
    eligible: z.number().int().meta({ description: 'agents there were to choose from' }),
    panic: z.boolean().optional().meta({
      description: 'true: nobody was in good standing, so breakers limited nobody',
    }),
    execution_timeout: z
      .object({
        ms: z.number().int(),
        p95_ms: z.number(),
        calls: z.number().int(),
        factor: z.number(),
        text: z.string().meta({ description: 'the same in words' }),
      })
      .optional()
      .meta({ description: 'where it follows from how long the agent took of late for this kind of work' }),
    compared: z
      .array(scoredAgent.extend({ chosen: z.boolean() }))
      .meta({ description: 'at most ten of them' }),
    rejected: rejectedView,
  })
  .meta({ id: 'Decision' });
