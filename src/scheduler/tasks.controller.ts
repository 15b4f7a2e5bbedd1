import { Body, Controller, Get, Headers, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { ReachError } from '../core/errors.js';
import { LargeBody } from '../platform/http/body-limit.js';
import { Answers, Fails } from '../platform/http/describe.js';
import { Caller } from '../platform/http/gone.js';
import { Principal } from '../platform/http/principal.js';
import { decodeCursor, toPage } from '../platform/http/pagination.js';
import { Trace, type TraceContext } from '../platform/http/trace.js';
import { userId, uuid } from '../platform/wire/primitives.js';
import { namespaceQuery } from '../registry/agents.wire.js';
import { Admission } from './admission.js';
import { Depths } from './depths.js';
import { itemProblem } from './item-problem.js';
import { TaskStore } from './task.store.js';
import { toTaskView } from './task-row.js';
import { codeFilter, Tasks } from './tasks.js';
import {
  acceptedAnswer,
  bulkRetryAnswer,
  bulkRetryBody,
  cancelAnswer,
  retryAnswer,
  taskBatchAnswer,
  taskBatchBody,
  taskBody,
  taskDetail,
  taskQuery,
  tasksPage,
  tasksQuery,
  type TaskBody,
} from './tasks.wire.js';

const idempotencyHeader = userId('Idempotency-Key', 255).optional();
type Namespaced = z.output<typeof namespaceQuery>;

@ApiTags('tasks')
@Controller('tasks')
export class TasksController {
  constructor(
    private readonly admission: Admission,
    private readonly tasks: Tasks,
    private readonly store: TaskStore,
    private readonly depths: Depths,
  ) {}

  @Post()
  @Answers(202, acceptedAnswer, 'Store a task; it will reach exactly one terminal state')
  @Fails(
    'VALIDATION_FAILED',
    'PAYLOAD_TOO_LARGE',
    'QUEUE_FULL',
    'IDEMPOTENCY_CONFLICT',
    'CALL_CYCLE',
    'UNAVAILABLE',
  )
  async submit(
    @Body({ schema: taskBody }) body: TaskBody,
    @Headers('idempotency-key') header: string | undefined,
    @Trace() trace: TraceContext,
    @Principal() caller: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const key = idempotencyKey(header);
    let lane = '';
    const accepted = await this.admission.submit(body, {
      caller,
      into: (into) => (lane = into),
      traceparent: trace.traceparent,
      ...(key !== undefined && { key }),
    });
    reply.headers(this.depths.headers(lane));
    reply.header('location', `/api/v1/tasks/${accepted.task_id}`);
    return accepted;
  }

  @Post('batch')
  @LargeBody()
  @Answers(202, taskBatchAnswer, 'Store many tasks; each is accepted or refused on its own')
  @Fails('VALIDATION_FAILED', 'UNAVAILABLE')
  async submitBatch(
    @Body({ schema: taskBatchBody }) body: z.output<typeof taskBatchBody>,
    @Headers('idempotency-key') header: string | undefined,
    @Trace() trace: TraceContext,
    @Principal() caller: string,
  ) {
    // Not taken in silence: whoever sends it relies on a repeated call to store nothing twice.
    if (header !== undefined) throw badKey('is for one task; give each task of a batch its idempotency_key');
    const answers = await this.admission.submitMany(body.tasks, { traceparent: trace.traceparent, caller });
    const results = answers.map((a) => (a instanceof ReachError ? { error: itemProblem(a) } : a));
    const rejected = answers.filter((a) => a instanceof ReachError).length;
    return { results, accepted: answers.length - rejected, rejected };
  }

  @Post('retry')
  @Answers(202, bulkRetryAnswer, 'Submit ended tasks anew, as new tasks')
  @Fails('VALIDATION_FAILED')
  retryMany(
    @Body({ schema: bulkRetryBody }) body: z.output<typeof bulkRetryBody>,
    @Principal() caller: string,
  ) {
    const { limit, dry_run, ...filter } = body;
    return this.tasks.retryMany({ ...filter, code: codeFilter(filter.code) }, limit, dry_run, caller);
  }

  @Get()
  @Answers(200, tasksPage, 'List tasks, newest first')
  @Fails('VALIDATION_FAILED')
  async list(@Query({ schema: tasksQuery }) q: z.output<typeof tasksQuery>) {
    const before = q.cursor === undefined ? null : decodeCursor(q.cursor, z.tuple([uuid]))[0];
    const rows = await this.store.page({ ...q, code: codeFilter(q.code) }, before, q.limit + 1);
    return toPage(rows, q.limit, toTaskView, (row) => [row.id]);
  }

  @Get(':task_id')
  @Answers(200, taskDetail, 'One task with its result or error; wait_ms waits for its end')
  @Fails('NOT_FOUND')
  async one(
    @Param('task_id', { schema: uuid }) id: string,
    @Query({ schema: taskQuery }) query: z.output<typeof taskQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.tasks.get(query.namespace, id, query.wait_ms, Caller.of(reply));
  }

  @Post(':task_id/cancel')
  @Answers(200, cancelAnswer, 'Cancel a task that has not ended')
  @Fails('NOT_FOUND')
  async cancel(
    @Param('task_id', { schema: uuid }) id: string,
    @Query({ schema: namespaceQuery }) query: Namespaced,
  ) {
    return { task_id: id, ...(await this.tasks.cancel(query.namespace, id)) };
  }

  @Post(':task_id/retry')
  @Answers(202, retryAnswer, 'Submit an ended task anew, as a new task')
  @Fails('NOT_FOUND', 'STATE_CONFLICT', 'QUEUE_FULL')
  retry(
    @Param('task_id', { schema: uuid }) id: string,
    @Query({ schema: namespaceQuery }) query: Namespaced,
    @Principal() caller: string,
  ) {
    return this.tasks.retry(query.namespace, id, caller);
  }
}

/** The validated `Idempotency-Key` header. */
function idempotencyKey(header: string | undefined): string | undefined {
  const parsed = idempotencyHeader.safeParse(header);
  if (parsed.success) return parsed.data;
  throw badKey(parsed.error.issues[0]?.message ?? 'is not a key');
}

function badKey(why: string): ReachError {
  const detail = `header: ${why}`;
  return new ReachError('VALIDATION_FAILED', `The Idempotency-Key ${detail}`, {
    errors: [{ pointer: '/idempotency-key', detail }],
  });
}
