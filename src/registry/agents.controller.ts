import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Answers, Fails } from '../platform/http/describe.js';
import { decodeCursor, encodeCursor } from '../platform/http/pagination.js';
import { toAgentView } from './agent-row.js';
import {
  agentDetail,
  agentId,
  agentsPage,
  agentsQuery,
  deregisterBody,
  drainBody,
  namespaceQuery,
  registerAnswer,
  registerBody,
  removalAnswer,
  type RegisterBody,
} from './agents.wire.js';
import { agentNotFound, Registry } from './registry.js';
import { RegistryStore } from './registry.store.js';

const HISTORY_LIMIT = 100;

@ApiTags('agents')
@Controller()
export class AgentsController {
  constructor(
    private readonly registry: Registry,
    private readonly store: RegistryStore,
  ) {}

  @Post('agent/register')
  @Answers(201, registerAnswer, 'Register an agent and get its lease')
  @Fails('VALIDATION_FAILED', 'LEASE_SUPERSEDED')
  register(@Body({ schema: registerBody }) body: RegisterBody) {
    return this.registry.register(body);
  }

  @Post('agent/deregister')
  @Answers(200, removalAnswer, 'Leave: no new work, a drain time for what is held')
  @Fails('LEASE_SUPERSEDED', 'LEASE_EXPIRED')
  async deregister(@Body({ schema: deregisterBody }) body: z.output<typeof deregisterBody>) {
    const ref = { namespace: body.namespace, agentId: body.agent_id, leaseId: body.lease_id };
    const row = await this.registry.deregister(ref, body.drain_ms);
    return { agent_id: row.agent_id, state: row.state, drain_until: drainUntil(row.drain_until) };
  }

  @Post('agents/:agent_id/drain')
  @Answers(200, removalAnswer, 'Drain an agent, as an operator')
  @Fails('NOT_FOUND')
  async drain(
    @Param('agent_id', { schema: agentId }) id: string,
    @Query({ schema: namespaceQuery }) query: z.output<typeof namespaceQuery>,
    @Body({ schema: drainBody }) body: z.output<typeof drainBody>,
  ) {
    const row = await this.registry.drain(query.namespace, id, body.drain_ms);
    return { agent_id: row.agent_id, state: row.state, drain_until: drainUntil(row.drain_until) };
  }

  @Get('agents')
  @Answers(200, agentsPage, 'List agents')
  @Fails('VALIDATION_FAILED')
  async list(@Query({ schema: agentsQuery }) q: z.output<typeof agentsQuery>) {
    const after = q.cursor === undefined ? null : decodeCursor(q.cursor, z.tuple([z.string()]))[0];
    const rows = await this.store.page([
      q.namespace,
      q.capability ?? null,
      q.name ?? null,
      q.state ?? null,
      q.tag ?? null,
      q.include_removed,
      after,
      q.limit + 1,
    ]);
    const items = rows.slice(0, q.limit);
    const last = items.at(-1);
    return {
      items: items.map((row) => toAgentView(row, row.in_flight)),
      ...(rows.length > q.limit && last !== undefined && { next_cursor: encodeCursor([last.agent_id]) }),
    };
  }

  @Get('agents/:agent_id')
  @Answers(200, agentDetail, 'One agent with the history of its states')
  @Fails('NOT_FOUND')
  async one(
    @Param('agent_id', { schema: agentId }) id: string,
    @Query({ schema: namespaceQuery }) query: z.output<typeof namespaceQuery>,
  ) {
    const row = await this.store.find(query.namespace, id);
    if (row === undefined) throw agentNotFound(query.namespace, id);
    const history = await this.store.history(query.namespace, id, HISTORY_LIMIT);
    return {
      ...toAgentView(row, row.in_flight),
      history: history.map((h) => ({ ...h, at: h.at.toISOString() })),
    };
  }
}

function drainUntil(at: Date | null): string {
  return (at ?? new Date()).toISOString();
}
