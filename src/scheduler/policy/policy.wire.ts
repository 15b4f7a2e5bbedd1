import { z } from 'zod';
import { DEFAULT_POLICY, PRESETS, STRATEGIES } from '../../core/policy.js';
import {
  capabilityName,
  durationMs,
  namespace,
  page,
  pageQuery,
  plainHttpUrl,
  queryInt,
  timestamp,
} from '../../platform/wire/primitives.js';

const DAY_MS = 86_400_000;

const WHEN_UNREACHABLE = ['wait', 'fail'] as const;

const weight = z.number().min(0).max(1000).optional();
const weights = z
  .strictObject({ success: weight, latency: weight, failures: weight, activity: weight, capacity: weight })
  .refine(
    (w) => Object.values(w).some((value) => value !== undefined && value > 0),
    'at least one weight is above 0',
  );

const executionMs = durationMs(50, 604_800_000);
const timeouts = z
  .strictObject({
    fixed_ms: executionMs.optional().meta({ description: 'always as long; not together with the others' }),
    factor: z.number().min(1).max(100).optional().meta({ description: 'so many times the P95 of the agent' }),
    min_ms: executionMs.optional(),
    max_ms: executionMs.optional(),
  })
  .superRefine(({ fixed_ms, factor, min_ms, max_ms }, ctx) => {
    const others = { factor, min_ms, max_ms };
    for (const [name, value] of Object.entries(others))
      if (fixed_ms !== undefined && value !== undefined)
        ctx.addIssue({ code: 'custom', path: [name], message: 'not together with fixed_ms' });
    if (min_ms !== undefined && max_ms !== undefined && min_ms > max_ms)
      ctx.addIssue({ code: 'custom', path: ['min_ms'], message: 'is above max_ms' });
  });

const MOST_BREAKER_WINDOW = 1000;
const breaker = z
  .strictObject({
    window: z.number().int().min(1).max(MOST_BREAKER_WINDOW).optional().meta({
      description: 'the last calls, of which the share of errors is taken',
    }),
    errors_percent: z.number().min(0).max(100).optional().meta({ description: 'more than this opens it' }),
    min_samples: z.number().int().min(1).max(MOST_BREAKER_WINDOW).optional().meta({
      description: 'fewer calls make no share: then failures running decide',
    }),
    consecutive: z.number().int().min(0).max(MOST_BREAKER_WINDOW).optional().meta({
      description: 'more failures running than this open it at once',
    }),
    open_ms: durationMs(100, DAY_MS).optional().meta({ description: 'how long the agent is left alone' }),
    half_open_trials: z.number().int().min(1).max(100).optional().meta({
      description: 'calls that must succeed, one after the other, before it gets ordinary work',
    }),
    throttle_percent: z.number().min(1).max(100).optional().meta({
      description: 'the part of its usual work that it gets at first',
    }),
    throttle_ms: durationMs(0, DAY_MS).optional().meta({ description: 'for so long' }),
  })
  .superRefine((b, ctx) => {
    const { window = DEFAULT_POLICY.breaker.window, min_samples = 1 } = b;
    if (min_samples > window)
      ctx.addIssue({
        code: 'custom',
        path: ['min_samples'],
        message: `is above the window of ${window} calls`,
      });
  });

const onDegrade = z.strictObject({
  url: plainHttpUrl('what is sent is signed with REACH_WEBHOOK_SECRETS'),
  timeout_ms: durationMs(100, 10_000).optional().meta({ description: 'of one try' }),
  max_attempts: z.number().int().min(1).max(20).optional().meta({
    description: 'tries, 5, 10, 20 ... s apart',
  }),
});
export type OnDegrade = z.output<typeof onDegrade>;

/** Settings of a policy. What is left out comes from the policy of the namespace, and then from the defaults. */
export const policySettings = z
  .strictObject({
    score: z
      .union([z.strictObject({ preset: z.enum(PRESETS) }), z.strictObject({ weights })])
      .optional()
      .meta({ description: 'a preset, or own weights (0 where left out): what counts is their proportion' }),
    target_latency_ms: durationMs(1, 604_800_000)
      .optional()
      .meta({ description: 'the latency that is good enough; slower is late' }),
    strategy: z.enum(STRATEGIES).optional().meta({ description: 'how one of the compared agents is chosen' }),
    panic: z.boolean().optional().meta({
      description: 'whether agents that failed are used as if they had not, where nobody is in good standing',
    }),
    breaker: breaker.optional().meta({
      description: 'when an agent that fails is left alone, and how it comes back',
    }),
    ack_timeout_ms: durationMs(50, 300_000).optional().meta({ description: 'for tasks that do not say it' }),
    execution_timeout_ms: executionMs.optional().meta({
      description: 'for tasks that do not say it, while it is unknown how long their agent takes',
    }),
    timeouts: timeouts.optional().meta({
      description:
        'how the execution timeout of tasks that do not say it follows from the P95 of their agent',
    }),
    max_attempts: z
      .number()
      .int()
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'for tasks that do not say it' }),
    fallback: z.array(capabilityName).max(8).optional().meta({
      description:
        'capabilities that do instead, the best first, where no agent with this one can be reached; none: tasks wait',
    }),
    fallback_after_ms: durationMs(0, DAY_MS).optional().meta({
      description:
        'for so long none could be reached before tasks that waited as long go to a fallback, or fail',
    }),
    on_degrade: onDegrade.nullable().optional().meta({
      description:
        'who is told, by a webhook, of each task that goes to a fallback, or that fails as nobody can be reached for it; null: nobody',
    }),
    when_unreachable: z.enum(WHEN_UNREACHABLE).optional().meta({
      description:
        'what becomes of tasks that nobody can be reached for, for a fallback neither: they wait, or fail',
    }),
  })
  .meta({ id: 'PolicySettings' });
export type PolicySettings = z.output<typeof policySettings>;
export type FullPolicySettings = { [K in keyof PolicySettings]-?: Exclude<PolicySettings[K], undefined> };

export const policyCapability = capabilityName.meta({
  description: 'a capability, or `*` for every one of the namespace',
});

export const policyBody = z
  .object({
    namespace,
    settings: policySettings,
    if_version: z.number().int().min(0).max(2_147_483_647).optional().meta({
      description: 'write only where this version holds; 0: where there is none yet',
    }),
  })
  .meta({ id: 'PolicyRequest' });

export const policyRemovalQuery = z.object({
  namespace,
  if_version: queryInt(1, 2_147_483_647).optional(),
});

export const policyVersion = z
  .object({
    namespace: z.string(),
    capability: z.string(),
    version: z.number().int(),
    settings: policySettings.nullable().meta({ description: 'null: it was removed' }),
    changed_by: z.string(),
    changed_at: timestamp,
  })
  .meta({ id: 'PolicyVersion' });

export const policiesQuery = pageQuery.extend({ namespace });
export const policiesPage = page(policyVersion).meta({ id: 'PolicyPage' });

export const effectivePolicy = z
  .object({
    namespace: z.string(),
    capability: z.string(),
    settings: policySettings.required(),
    version: z.number().int().meta({ description: 'of the policy of the capability; 0: there is none' }),
    namespace_version: z
      .number()
      .int()
      .meta({ description: 'of the policy of the namespace; 0: there is none' }),
    versions: z.array(policyVersion).meta({ description: 'of the policy of the capability, newest first' }),
  })
  .meta({ id: 'EffectivePolicy' });
