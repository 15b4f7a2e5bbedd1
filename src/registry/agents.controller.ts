import { setImmediate as nextTurn } from 'node:timers/promises';
import { Body, Controller, Get, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { ReachError } from '../core/errors.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Answers, Fails } from '../platform/http/describe.js';
import { Caller } from '../platform/http/gone.js';
import { decodeCursor, toPage } from '../platform/http/pagination.js';
import { Principal } from '../platform/http/principal.js';
import { agentKey, type AgentRow } from './agent-row.js';
import { toAgentView, toFactsView, toWindowView } from './agent-view.js';
import {
  agentDetail,
  agentId,
  agentsPage,
  agentsQuery,
  agentView,
  deregisterBody,
  drainBody,
  holdBody,
  namespaceQuery,
  registerAnswer,
  registerBody,
  removalAnswer,
  type RegisterBody,
} from './agents.wire.js';
import { agentNotFound, Registry } from './registry.js';
import { ReachTable } from './reach-table.js';
import { RegistryStore } from './registry.store.js';
import { Windows } from './windows.js';

const HISTORY_LIMIT = 100;
const TURNS_TO_HANG_UP = 10;
/** Latencies that are good enough: of an answer to a light probe, and of a task. */
const PROBE_TARGET_MS = 1_000;
const WORK_TARGET_MS = 30_000;

@ApiTags('agents')
@Controller()
export class AgentsController {
  constructor(
    private readonly registry: Registry,
    private readonly store: RegistryStore,
    private readonly windows: Windows,
    private readonly table: ReachTable,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Post('agent/register')
  @Answers(201, registerAnswer, 'Register an agent and get its lease')
  @Fails('VALIDATION_FAILED', 'LEASE_SUPERSEDED', 'UNAVAILABLE')
  async register(
    @Body({ schema: registerBody }) body: RegisterBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    // After a standstill of ours the tries that the agent gave up lie before the one that it waits for. They would take
    // each other's leases, and the agent would believe that another process has its name. That they hung up is known a
    // few turns of the event loop later: one to read the end, and some to close the socket.
    const caller = Caller.of(reply);
    for (let turn = 0; turn < TURNS_TO_HANG_UP && !caller.gone; turn++) await nextTurn();
    if (caller.gone)
      throw new ReachError(
        'UNAVAILABLE',
        `the caller hung up before agent ${body.agent_id} was registered; nothing was changed`,
      );
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

  @Post('agents/:agent_id/hold')
  @Answers(200, agentView, 'Hold an agent out of service, as an operator')
  @Fails('NOT_FOUND', 'VALIDATION_FAILED')
  async hold(
    @Param('agent_id', { schema: agentId }) id: string,
    @Query({ schema: namespaceQuery }) query: z.output<typeof namespaceQuery>,
    @Body({ schema: holdBody }) body: z.output<typeof holdBody>,
    @Principal() by: string,
  ) {
    const row = await this.registry.hold(query.namespace, id, body.reason, by);
    return this.view(row);
  }

  @Post('agents/:agent_id/release')
  @Answers(200, agentView, 'End a hold: the agent gets work again as its state allows')
  @Fails('NOT_FOUND')
  async release(
    @Param('agent_id', { schema: agentId }) id: string,
    @Query({ schema: namespaceQuery }) query: z.output<typeof namespaceQuery>,
    @Principal() by: string,
  ) {
    const row = await this.registry.hold(query.namespace, id, null, by);
    return this.view(row);
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
    return toPage(
      rows,
      q.limit,
      (row) => ({
        ...this.view(row),
        ...(q.facts && { facts: toFactsView(row, this.config.warmUpProbes) }),
      }),
      (row) => [row.agent_id],
    );
  }

  private view(row: AgentRow & { in_flight: number }) {
    return toAgentView(row, row.in_flight, this.table.get(agentKey(row.namespace, row.agent_id)));
  }

  @Get('agents/:agent_id')
  @Answers(
    200,
    agentDetail,
    'One agent with the facts behind its state, what it did of late, and its history',
  )
  @Fails('NOT_FOUND')
  async one(
    @Param('agent_id', { schema: agentId }) id: string,
    @Query({ schema: namespaceQuery }) query: z.output<typeof namespaceQuery>,
  ) {
    const row = await this.store.find(query.namespace, id);
    if (row === undefined) throw agentNotFound(query.namespace, id);
    const history = await this.store.history(query.namespace, id, HISTORY_LIMIT);
    const nowMs = performance.now();
    const { probes, work } = this.windows.read(agentKey(query.namespace, id), nowMs);
    const probesView = toWindowView(probes, nowMs, PROBE_TARGET_MS);
    const workView = toWindowView(work, nowMs, WORK_TARGET_MS);
    return {
      ...this.view(row),
      facts: toFactsView(row, this.config.warmUpProbes),
      windows: {
        ...(probesView !== undefined && { probes: probesView }),
        ...(workView !== undefined && { work: workView }),
      },
      history: history.map((h) => ({ ...h, at: h.at.toISOString() })),
    };
  }
}

function drainUntil(at: Date | null): string {
  return (at ?? new Date()).toISOString();
}
