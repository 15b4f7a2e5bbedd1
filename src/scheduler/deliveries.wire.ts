import { z } from 'zod';
import {
  deliveryId,
  durationMs,
  json,
  namespace,
  timestamp,
  userId,
  uuid,
} from '../platform/wire/primitives.js';

/** What a task was given to in place of what it asked for. */
export const fallbackUsed = z
  .object({ from: z.string(), to: z.string(), reason: z.string(), at: timestamp })
  .meta({ description: 'nobody could be reached for what it asked for: it went to an equivalent' });

const token = z.string().meta({
  description:
    'for the dependencies that the agent declared, to show them which task it works on; absent: it declared none',
});

/** What an agent receives: everything it needs to do the work once its ACK is answered `execute: true`. */
export const offer = z
  .object({
    delivery_id: deliveryId,
    task_id: uuid,
    attempt: z.number().int(),
    fence: z.number().int(),
    capability: z.string(),
    payload: json,
    ack_deadline: timestamp,
    execution_timeout_ms: z.number().int(),
    time_left_ms: z.number().int().optional().meta({
      description:
        'of the whole task, as the offer was sent; pass it on as the timeout_ms of what you call for it',
    }),
    idempotent: z.boolean(),
    traceparent: z.string().optional(),
    parent_task_id: uuid.optional(),
    token: token.optional(),
    fallback_used: fallbackUsed.optional(),
  })
  .meta({ id: 'Offer' });

export const claimBody = z
  .object({
    namespace,
    agent_id: userId('agent_id'),
    lease_id: uuid,
    max: z.number().int().min(1).max(1000).default(1),
    wait_ms: durationMs(0, 60_000).default(0),
  })
  .meta({ id: 'ClaimRequest' });
export const claimAnswer = z.object({ deliveries: z.array(offer) }).meta({ id: 'ClaimAnswer' });

const lease = { lease_id: uuid };

export const ackBody = z.object(lease).meta({ id: 'AckRequest' });
export const ackAnswer = z
  .union([
    z.object({ execute: z.literal(true), deadline: timestamp }),
    z.object({ execute: z.literal(false), reason: z.string().meta({ description: 'a REACH_ code' }) }),
  ])
  .meta({ id: 'AckAnswer' });

const note = z.string().max(2000);
export const progressBody = z
  .object({
    ...lease,
    extend_ms: durationMs(1, 604_800_000)
      .optional()
      .meta({ description: 'the deadline becomes at least this long from now' }),
    note: note.optional(),
  })
  .meta({ id: 'ProgressRequest' });
export const progressAnswer = z
  .object({ deadline: timestamp, token: token.optional() })
  .meta({ id: 'ProgressAnswer' });

export const completeBody = z
  .object({ ...lease, outputs: json.default(null), meta: z.record(z.string(), json).optional() })
  .meta({ id: 'CompleteRequest' });

export const failBody = z
  .object({
    ...lease,
    code: z.string().min(1).max(64).default('AGENT_ERROR'),
    message: z.string().max(100_000).default(''),
    retryable: z.boolean().optional(),
    dependency: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: 'the dependency that failed, if one did' }),
    raw_error: json.optional(),
  })
  .meta({ id: 'FailRequest' });
export type FailBody = z.output<typeof failBody>;

export const resultAnswer = z
  .object({ task_id: uuid, state: z.string().meta({ description: 'the state the task is in now' }) })
  .meta({ id: 'ResultAnswer' });

/** One operation of `POST deliveries/batch`, and of a session frame. */
export const operation = z
  .discriminatedUnion('op', [
    z.object({ op: z.literal('ack'), delivery_id: deliveryId }),
    z.object({
      op: z.literal('progress'),
      delivery_id: deliveryId,
      extend_ms: durationMs(1, 604_800_000).optional(),
      note: note.optional(),
    }),
    z.object({
      op: z.literal('complete'),
      delivery_id: deliveryId,
      outputs: json.default(null),
      meta: z.record(z.string(), json).optional(),
    }),
    failBody.omit({ lease_id: true }).extend({ op: z.literal('fail'), delivery_id: deliveryId }),
  ])
  .meta({ id: 'DeliveryOperation' });
export type Operation = z.output<typeof operation>;

export const deliveryBatchBody = z
  .object({ ...lease, operations: z.array(operation).min(1).max(1000) })
  .meta({ id: 'DeliveryBatchRequest' });

/** One answer per operation, in order. `error` is absent when the operation took effect (or had already). */
export const operationAnswer = z
  .object({
    delivery_id: deliveryId,
    execute: z.boolean().optional(),
    reason: z.string().optional(),
    deadline: timestamp.optional(),
    token: token.optional(),
    state: z.string().optional(),
    error: z.object({ code: z.string(), detail: z.string() }).optional(),
  })
  .meta({ id: 'OperationAnswer' });
export type OperationAnswer = z.output<typeof operationAnswer>;
export const deliveryBatchAnswer = z
  .object({ answers: z.array(operationAnswer) })
  .meta({ id: 'DeliveryBatchAnswer' });
