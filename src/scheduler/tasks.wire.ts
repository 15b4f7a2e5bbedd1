import { z } from 'zod';
import {
  deliveryId,
  durationMs,
  json,
  namespace,
  page,
  pageQuery,
  queryInt,
  timestamp,
  userId,
  uuid,
} from '../platform/wire/primitives.js';
import { decisionView } from './decision.wire.js';
import { fallbackUsed } from './deliveries.wire.js';
import { TASK_STATES, TERMINAL_STATES } from '../core/task-state.js';

export const taskState = z.enum(TASK_STATES);

/** `name` or `name@range`, for example `document.summarize@^2.1`. */
export const capabilityRef = z
  .string()
  .max(200)
  .regex(
    /^[^\s@\p{Cc}]+(@[^@\p{Cc}]+)?$/u,
    'a capability is "name" or "name@version-range", without white space',
  );

export const constraints = z.object({
  version: z.string().max(64).optional().meta({ description: 'semver range of the capability' }),
  tags: z.array(userId('tag', 64)).max(16).optional().meta({ description: 'the agent has all of them' }),
  zone: userId('zone', 64).optional(),
  exclude: z.array(userId('agent_id')).max(16).optional().meta({ description: 'agents never to use' }),
});
export type Constraints = z.output<typeof constraints>;

/** The longest delay that is taken: one year. Far above it a delay is a mistake in units. */
const YEAR_MS = 31_536_000_000;

/** To whom a task may go. */
export const taskTarget = {
  namespace,
  capability: capabilityRef.optional(),
  capabilities: z.array(capabilityRef).min(1).max(8).optional(),
  agent_id: userId('agent_id').optional(),
  name: userId('name').optional(),
};

/** A task needs something, and says it in one way. */
export function checkTarget(b: z.output<z.ZodObject<typeof taskTarget>>, ctx: z.core.$RefinementCtx): void {
  const targets = [b.capability, b.capabilities, b.agent_id, b.name].filter((t) => t !== undefined);
  if (targets.length === 0)
    ctx.addIssue({
      code: 'custom',
      path: ['capability'],
      message: 'say what the task needs: one of capability, capabilities, agent_id, name',
    });
  if (b.capability !== undefined && b.capabilities !== undefined)
    ctx.addIssue({ code: 'custom', path: ['capabilities'], message: 'not together with capability' });
  if (b.agent_id !== undefined && b.name !== undefined)
    ctx.addIssue({ code: 'custom', path: ['name'], message: 'not together with agent_id' });
}

/** What a task is, beside when it runs and whose it is. */
export const taskFields = {
  ...taskTarget,
  payload: json.default(null),
  priority: z
    .number()
    .int()
    .min(-100)
    .max(100)
    .default(0)
    .meta({ description: 'higher goes first: a head start of 100 tasks a point' }),
  idempotent: z.boolean().default(false).meta({
    description: 'true: running it twice is harmless, so it may be retried after it may have started',
  }),
  ack_timeout_ms: durationMs(50, 300_000).optional(),
  execution_timeout_ms: durationMs(50, 604_800_000).optional(),
  timeout_ms: durationMs(50, YEAR_MS).optional().meta({
    description:
      'of the whole task, attempts and pauses included, from when it may start: must have ended by then',
  }),
  expires_in_ms: durationMs(1, YEAR_MS).optional().meta({ description: 'must have started by then' }),
  max_attempts: z.number().int().min(1).max(100).optional(),
  constraints: constraints.optional(),
  affinity_key: userId('affinity_key').optional(),
  callback_url: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .optional(),
};

export const taskBody = z
  .object({
    ...taskFields,
    delay_ms: durationMs(0, YEAR_MS).optional(),
    run_at: timestamp.optional().meta({ description: 'earliest start; not together with delay_ms' }),
    parent_task_id: uuid.optional(),
    idempotency_key: userId('idempotency_key', 255)
      .optional()
      .meta({ description: 'as the Idempotency-Key header, for tasks of a batch' }),
  })
  .superRefine((b, ctx) => {
    checkTarget(b, ctx);
    if (b.delay_ms !== undefined && b.run_at !== undefined)
      ctx.addIssue({ code: 'custom', path: ['run_at'], message: 'not together with delay_ms' });
  })
  .meta({ id: 'TaskRequest' });
export type TaskBody = z.output<typeof taskBody>;

export const taskBatchBody = z
  .object({ tasks: z.array(taskBody).min(1).max(1000) })
  .meta({ id: 'TaskBatchRequest' });

export const acceptedAnswer = z
  .object({
    task_id: uuid,
    state: taskState,
    deduplicated: z.boolean().meta({ description: 'true: the idempotency key named this task already' }),
  })
  .meta({ id: 'TaskAccepted' });

export const problemItem = z
  .object({
    code: z.string(),
    detail: z.string(),
    retryable: z.boolean(),
    retry_after_ms: z
      .number()
      .int()
      .optional()
      .meta({ description: 'how long to wait before it is sent again' }),
  })
  .meta({ id: 'ItemProblem' });

export const taskBatchAnswer = z
  .object({
    results: z
      .array(z.union([acceptedAnswer, z.object({ error: problemItem })]))
      .meta({ description: 'one answer per task, in order' }),
    accepted: z.number().int(),
    rejected: z.number().int(),
  })
  .meta({ id: 'TaskBatchAnswer' });

export const deliveryView = z
  .object({
    delivery_id: deliveryId,
    attempt: z.number().int(),
    fence: z.number().int(),
    agent_id: z.string(),
    transport: z.string(),
    state: z.enum(['offered', 'running', 'succeeded', 'failed', 'canceled', 'released']),
    code: z.string().optional(),
    offered_at: timestamp,
    acked_at: timestamp.optional(),
    finished_at: timestamp.optional(),
    deadline_at: timestamp.optional(),
    decision: decisionView.optional().meta({ description: 'why it went to this agent' }),
  })
  .meta({ id: 'Delivery' });

export const taskError = z
  .object({
    code: z.string(),
    message: z.string(),
    retryable: z.boolean(),
    agent_id: z.string().optional(),
    raw_error: json.optional(),
  })
  .meta({ id: 'TaskError' });

export const taskView = z
  .object({
    task_id: uuid,
    namespace: z.string(),
    state: taskState,
    capability: z.string().meta({ description: 'the capability, or the agent or name it is addressed to' }),
    asked: z
      .string()
      .optional()
      .meta({ description: 'the name that was asked for, where that is an alias; not in lists' }),
    requirement: z.record(z.string(), json),
    priority: z.number().int(),
    idempotent: z.boolean(),
    attempt: z.number().int(),
    max_attempts: z.number().int(),
    agent_id: z.string().optional(),
    created_at: timestamp,
    run_at: timestamp,
    expires_at: timestamp.optional().meta({ description: 'must have started by then' }),
    ends_at: timestamp.optional().meta({ description: 'must have ended by then' }),
    finished_at: timestamp.optional(),
    parent_task_id: uuid.optional(),
    chain: z
      .array(z.string())
      .optional()
      .meta({ description: 'the agents that handle its ancestors, the oldest first; not in lists' }),
    fallback_used: fallbackUsed.optional(),
    retry_of: uuid.optional(),
    progress: json.optional(),
    result: json.optional(),
    meta: json.optional(),
    error: taskError.optional(),
  })
  .meta({ id: 'Task' });

export const taskDetail = taskView
  .extend({ payload: json, deliveries: z.array(deliveryView) })
  .meta({ id: 'TaskDetail' });
export const tasksPage = page(taskView).meta({ id: 'TaskPage' });

export const taskQuery = z.object({
  namespace,
  wait_ms: queryInt(0, 60_000).default(0).meta({ description: 'wait up to this long for a terminal state' }),
});

const codeFilter = z.string().max(64);
export const tasksQuery = pageQuery.extend({
  namespace,
  state: taskState.optional(),
  capability: z.string().max(200).optional(),
  agent_id: userId('agent_id').optional(),
  code: codeFilter.optional(),
  since: timestamp.optional(),
  until: timestamp.optional(),
});

export const cancelAnswer = z
  .object({
    task_id: uuid,
    state: taskState,
    canceled: z.boolean().meta({ description: 'true: this call canceled it; false: it had ended before' }),
  })
  .meta({ id: 'CancelAnswer' });

export const retryAnswer = z
  .object({ task_id: uuid.meta({ description: 'the new task' }), retry_of: uuid, state: taskState })
  .meta({ id: 'RetryAnswer' });

export const bulkRetryBody = z
  .object({
    namespace,
    state: z.enum(TERMINAL_STATES).default('failed'),
    capability: z.string().max(200).optional(),
    code: codeFilter.optional(),
    since: timestamp.optional(),
    until: timestamp.optional(),
    limit: z.number().int().min(1).max(1000).default(100),
    dry_run: z.boolean().default(false),
  })
  .meta({ id: 'BulkRetryRequest' });
export const bulkRetryAnswer = z
  .object({
    matched: z.number().int(),
    retried: z.array(retryAnswer),
    failed: z.array(z.object({ retry_of: uuid, error: problemItem })),
    dry_run: z.boolean(),
  })
  .meta({ id: 'BulkRetryAnswer' });
