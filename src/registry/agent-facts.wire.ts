import { z } from 'zod';
import { timestamp } from '../platform/wire/primitives.js';
import { STANDINGS } from '../core/verdict.js';

/* What is known of an agent beside its registration. */

export const breakerView = z.object({
  phase: z.enum(['open', 'half_open', 'recovering']).meta({
    description: 'open: no work; half_open: a few trials; recovering: a part of its usual work',
  }),
  since: timestamp,
  cause: z
    .string()
    .optional()
    .meta({ description: 'of an open one: what it failed at, and when it is tried again' }),
  slots: z.number().int().meta({ description: 'how many tasks it may hold for now' }),
});

export const probeFact = z.object({
  standing: z.enum(STANDINGS).meta({
    description: 'unknown: not probed; suspect: a failure is being confirmed; bad: enough failed running',
  }),
  since: timestamp.optional(),
  failures: z.number().int().meta({ description: 'failures running' }),
  successes: z.number().int().meta({ description: 'good probes running' }),
  fault: z.string().optional().meta({ description: 'kind of the latest failure, until it is good again' }),
  detail: z.string().optional(),
  latency_ms: z.number().optional().meta({ description: 'of the latest good answer' }),
  slow: z.boolean().optional(),
});

export const agentFacts = z
  .object({
    lease: z.enum(['live', 'ended']),
    heartbeat: z.enum(['fresh', 'missed', 'dead']),
    session: z.enum(['open', 'broken', 'none']),
    leaving: z.boolean(),
    echo: probeFact,
    dependencies: z.array(
      z.object({ name: z.string(), type: z.string(), critical: z.boolean(), ...probeFact.shape }),
    ),
    warm_up: z
      .object({
        passed: z.boolean(),
        good: z.number().int(),
        needed: z.number().int(),
        mean_ms: z.number().optional(),
        slow: z
          .boolean()
          .optional()
          .meta({ description: 'it passed although it stayed slower than its group' }),
      })
      .optional()
      .meta({ description: 'Absent: the agent cannot be warmed up, and counts as warm.' }),
  })
  .meta({ id: 'AgentFacts', description: 'What the state was judged from.' });

export const agentWindow = z
  .object({
    samples: z.number().int(),
    success_rate: z.number().meta({ description: '0 to 1, recent results weighing more' }),
    p50_ms: z.number().optional(),
    p95_ms: z.number().optional(),
    consecutive_failures: z.number().int(),
    last_activity_at: timestamp,
    silent: z.boolean().meta({ description: 'nothing for over 30 s' }),
    score: z.number().meta({ description: '0 to 1' }),
  })
  .meta({ id: 'AgentWindow' });
