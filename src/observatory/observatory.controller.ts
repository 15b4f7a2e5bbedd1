import { Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { wireCode } from '../core/errors.js';
import { Answers, Fails } from '../platform/http/describe.js';
import { decodeCursor, toPage } from '../platform/http/pagination.js';
import { uuid } from '../platform/wire/primitives.js';
import { namespaceQuery } from '../registry/agents.wire.js';
import { AttributionStore, toAttributionView } from './attribution.store.js';
import { Explainer } from './explainer.js';
import {
  attributionsPage,
  attributionsQuery,
  explainAnswer,
  summaryAnswer,
  summaryQuery,
} from './observatory.wire.js';
import { TaskStream } from './task-stream.js';

type Namespaced = z.output<typeof namespaceQuery>;

@ApiTags('attributions')
@Controller()
export class ObservatoryController {
  constructor(
    private readonly store: AttributionStore,
    private readonly explainer: Explainer,
    private readonly stream: TaskStream,
  ) {}

  @Get('attributions')
  @Answers(200, attributionsPage, 'Why attempts and tasks failed, newest first')
  @Fails('VALIDATION_FAILED')
  async list(@Query({ schema: attributionsQuery }) q: z.output<typeof attributionsQuery>) {
    const before = q.cursor === undefined ? null : decodeCursor(q.cursor, z.tuple([uuid]))[0];
    const rows = await this.store.page(q, before, q.limit + 1);
    return toPage(rows, q.limit, toAttributionView, (row) => [row.id]);
  }

  @Get('attributions/summary')
  @Answers(200, summaryAnswer, 'Failures counted by code, blame, agent, dependency, capability or stage')
  @Fails('VALIDATION_FAILED')
  async summary(@Query({ schema: summaryQuery }) q: z.output<typeof summaryQuery>) {
    const rows = await this.store.summary(q, q.group_by);
    return {
      group_by: q.group_by,
      groups: rows.map((r) => ({
        ...r,
        key: q.group_by === 'code' && r.key !== null ? wireCode(r.key) : r.key,
        last_at: r.last_at.toISOString(),
      })),
    };
  }

  @Get('tasks/:task_id/explain')
  @Answers(200, explainAnswer, 'The whole story of a task')
  @Fails('NOT_FOUND')
  explain(
    @Param('task_id', { schema: uuid }) id: string,
    @Query({ schema: namespaceQuery }) query: Namespaced,
  ) {
    return this.explainer.explain(query.namespace, id);
  }

  /** `text/event-stream`: id = position in the story, event = kind, data = the entry; ends with the task. */
  @Get('tasks/:task_id/events')
  @Fails('NOT_FOUND')
  async events(
    @Param('task_id', { schema: uuid }) id: string,
    @Query({ schema: namespaceQuery }) query: Namespaced,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.stream.serve(query.namespace, id, Number(lastEventId ?? 0) || 0, reply);
  }
}
