import { z } from 'zod';
import {
  capacityReport,
  leaseAnswer,
  registerAnswer,
  registerBody,
  staleDelivery,
} from '../registry/agents.wire.js';
import { deliveryId, namespace, userId, uuid } from '../platform/wire/primitives.js';
import { offer, operation, operationAnswer } from './deliveries.wire.js';

/*
 * The session: one WebSocket per agent at `GET /api/v1/session`. Each message is one JSON frame; a frame
 * carries as many operations or offers as are ready. The first frame is `register` or `resume`.
 * `ref` is chosen by the agent and repeated in the answer; that of an echo is chosen by the centre.
 */

const ref = z.number().int().min(0);

export const agentFrame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('register'), ref, agent: registerBody }),
  /** Take up a lease again after the connection broke; running deliveries stay the agent's. */
  z.object({
    type: z.literal('resume'),
    ref,
    namespace,
    agent_id: userId('agent_id'),
    lease_id: uuid,
    running: z.array(deliveryId).max(10_000).default([]),
  }),
  z.object({
    type: z.literal('heartbeat'),
    ref,
    capacity: capacityReport.optional(),
    running: z.array(deliveryId).max(10_000).optional(),
  }),
  z.object({ type: z.literal('operations'), ref, operations: z.array(operation).min(1).max(1000) }),
  z.object({
    type: z.literal('deregister'),
    ref,
    drain_ms: z.number().int().min(0).max(3_600_000).optional(),
  }),
  /** Answers the centre's `echo`. `ok` and `echo: "reachable"`: the agent could work now. */
  z.object({
    type: z.literal('echo'),
    ref,
    ok: z.boolean(),
    echo: z.string().max(100).optional(),
    detail: z.string().max(10_000).optional(),
  }),
]);
export type AgentFrame = z.output<typeof agentFrame>;

const problem = z.object({ code: z.string(), detail: z.string(), retryable: z.boolean() });

export const centreFrame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('registered'), ref, lease: registerAnswer }),
  z.object({ type: z.literal('resumed'), ref, lease: leaseAnswer }),
  z.object({ type: z.literal('heartbeat'), ref, lease: leaseAnswer }),
  z.object({ type: z.literal('answers'), ref, answers: z.array(operationAnswer) }),
  z.object({ type: z.literal('deregistered'), ref, drain_until: z.string() }),
  z.object({ type: z.literal('offers'), deliveries: z.array(offer) }),
  /** These deliveries are no longer the agent's: stop their work. */
  z.object({ type: z.literal('stale'), deliveries: z.array(staleDelivery) }),
  /** Finish what runs, take nothing new. */
  z.object({ type: z.literal('drain') }),
  /** Asked of agents with the feature `echo`. `deep`: run the probe tool and answer what it found. */
  z.object({ type: z.literal('echo'), ref, deep: z.boolean() }),
  /** The call named by `ref` failed; `fatal` says that the connection closes after it. */
  z.object({ type: z.literal('error'), ref: ref.optional(), problem, fatal: z.boolean() }),
]);
export type CentreFrame = z.output<typeof centreFrame>;
