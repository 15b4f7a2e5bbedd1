import { Body, Controller, Header, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { parseDeliveryId } from '../core/task-state.js';
import { AgentBody } from '../platform/http/body-limit.js';
import { Answers, Fails } from '../platform/http/describe.js';
import { Caller } from '../platform/http/gone.js';
import { deliveryId } from '../platform/wire/primitives.js';
import { agentKey } from '../registry/agent-row.js';
import { leaseAnswer, leaseBody, type LeaseBody } from '../registry/agents.wire.js';
import { Registry } from '../registry/registry.js';
import { Deliveries } from './deliveries.js';
import {
  ackAnswer,
  ackBody,
  claimAnswer,
  claimBody,
  completeBody,
  deliveryBatchAnswer,
  deliveryBatchBody,
  failBody,
  progressAnswer,
  progressBody,
  resultAnswer,
  type FailBody,
} from './deliveries.wire.js';
import { Inbox } from './transports/inbox.js';

@ApiTags('deliveries')
@Controller()
export class DeliveriesController {
  constructor(
    private readonly registry: Registry,
    private readonly inbox: Inbox,
    private readonly deliveries: Deliveries,
  ) {}

  /** Here rather than with the registry: the answer also tells which deliveries are stale. */
  @Post('agent/lease')
  @Answers(200, leaseAnswer, 'Renew the lease and report capacity')
  @Fails('LEASE_SUPERSEDED', 'LEASE_EXPIRED')
  async lease(@Body({ schema: leaseBody }) body: LeaseBody) {
    const ref = { namespace: body.namespace, agentId: body.agent_id, leaseId: body.lease_id };
    const lease = await this.registry.heartbeat(ref, body.capacity);
    return { ...lease, stale: await this.deliveries.stale(body.lease_id, body.running ?? []) };
  }

  @Post('deliveries/claim')
  @Header('content-type', 'application/json; charset=utf-8')
  @Answers(200, claimAnswer, 'Take offers: a long poll that ends when work comes')
  @Fails('LEASE_SUPERSEDED', 'LEASE_EXPIRED')
  async claim(
    @Body({ schema: claimBody }) body: z.output<typeof claimBody>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const ref = { namespace: body.namespace, agentId: body.agent_id, leaseId: body.lease_id };
    await this.registry.requireLease(ref);
    const key = agentKey(body.namespace, body.agent_id);
    const offers = await this.inbox.claim(key, body.lease_id, body.max, body.wait_ms, Caller.of(reply));
    return `{"deliveries":[${offers.join(',')}]}`;
  }

  @Post('deliveries/batch')
  @AgentBody()
  @Answers(200, deliveryBatchAnswer, 'Many operations in one call; each is answered on its own')
  async batch(@Body({ schema: deliveryBatchBody }) body: z.output<typeof deliveryBatchBody>) {
    return {
      answers: await Promise.all(body.operations.map((op) => this.deliveries.operate(body.lease_id, op))),
    };
  }

  @Post('deliveries/:delivery_id/ack')
  @Answers(200, ackAnswer, 'Acknowledge: only execute: true lets the agent begin')
  ack(
    @Param('delivery_id', { schema: deliveryId }) id: string,
    @Body({ schema: ackBody }) body: z.output<typeof ackBody>,
  ) {
    return this.deliveries.ack(id, body.lease_id);
  }

  @Post('deliveries/:delivery_id/progress')
  @AgentBody()
  @Answers(200, progressAnswer, 'Note progress, extend the deadline')
  @Fails('DELIVERY_SUPERSEDED', 'CANCELED', 'LEASE_SUPERSEDED', 'STATE_CONFLICT', 'NOT_FOUND')
  progress(
    @Param('delivery_id', { schema: deliveryId }) id: string,
    @Body({ schema: progressBody }) body: z.output<typeof progressBody>,
  ) {
    return this.deliveries.progress(id, body.lease_id, body.extend_ms, body.note);
  }

  @Post('deliveries/:delivery_id/complete')
  @AgentBody()
  @Answers(200, resultAnswer, 'Report the result')
  @Fails(
    'DELIVERY_SUPERSEDED',
    'CANCELED',
    'LEASE_SUPERSEDED',
    'STATE_CONFLICT',
    'NOT_FOUND',
    'PAYLOAD_TOO_LARGE',
  )
  async complete(
    @Param('delivery_id', { schema: deliveryId }) id: string,
    @Body({ schema: completeBody }) body: z.output<typeof completeBody>,
  ) {
    const { state } = await this.deliveries.complete(id, body.lease_id, body.outputs, body.meta);
    return { task_id: parseDeliveryId(id).taskId, state };
  }

  @Post('deliveries/:delivery_id/fail')
  @AgentBody()
  @Answers(200, resultAnswer, 'Report a failure')
  @Fails('DELIVERY_SUPERSEDED', 'CANCELED', 'LEASE_SUPERSEDED', 'NOT_FOUND')
  async fail(
    @Param('delivery_id', { schema: deliveryId }) id: string,
    @Body({ schema: failBody }) body: FailBody,
  ) {
    const { state } = await this.deliveries.fail(id, body.lease_id, body);
    return { task_id: parseDeliveryId(id).taskId, state };
  }
}
