import { z } from 'zod';

const rate = z.object({
  kind: z.string().meta({ description: 'a type of dependency, or echo, l1, l2, l3' }),
  targets: z.number().int(),
  interval_ms: z.number(),
  per_second: z.number(),
});

export const probeBudget = z
  .object({
    agents: z
      .number()
      .int()
      .meta({ description: 'registered agents that are probed: neither offline nor removing' }),
    declared_dependencies: z.number().int(),
    distinct_targets: z.number().int().meta({ description: 'what agents share is probed once' }),
    per_second: z.number().meta({ description: 'probes of all replicas together' }),
    unshared_per_second: z.number().meta({ description: 'what it were if nothing was shared' }),
    rates: z.array(rate),
    arithmetic: z.array(z.string()).meta({ description: 'the same as sentences' }),
    sampling: z.object({
      active: z.boolean().meta({ description: 'past 10 000 agents' }),
      full_targets: z.number().int(),
      sampled_targets: z.number().int(),
      sampled_interval_ms: z.number(),
    }),
    crowded_hosts: z
      .array(z.object({ host: z.string(), targets: z.number().int(), interval_ms: z.number() }))
      .meta({ description: 'hosts with more targets than one probe a second can serve in the interval' }),
    replicas: z.array(
      z.object({ replica_id: z.string(), zone: z.string().optional(), targets: z.number().int() }),
    ),
    this_replica: z.object({
      replica_id: z.string(),
      targets: z.number().int(),
      in_flight: z.number().int(),
      stretch: z
        .number()
        .meta({ description: 'factor on the intervals of its slowest shard; 1: it keeps up' }),
      doubt: z
        .string()
        .optional()
        .meta({ description: 'why it doubts itself; verdicts are frozen meanwhile' }),
    }),
  })
  .meta({ id: 'ProbeBudget' });
