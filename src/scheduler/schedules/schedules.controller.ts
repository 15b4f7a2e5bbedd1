import { Body, Controller, Delete, Get, Param, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Answers, Fails } from '../../platform/http/describe.js';
import { decodeCursor, toPage } from '../../platform/http/pagination.js';
import { Principal } from '../../platform/http/principal.js';
import { namespaceQuery } from '../../registry/agents.wire.js';
import { ScheduleStore } from './schedule.store.js';
import {
  scheduleBody,
  type ScheduleBody,
  scheduleDetail,
  scheduleId,
  schedulePauseBody,
  schedulesPage,
  schedulesQuery,
  scheduleView,
  triggerAnswer,
} from './schedule.wire.js';
import { Schedules, toScheduleView } from './schedules.js';

type Namespaced = z.output<typeof namespaceQuery>;

@ApiTags('schedules')
@Controller('schedules')
export class SchedulesController {
  constructor(
    private readonly schedules: Schedules,
    private readonly store: ScheduleStore,
  ) {}

  @Get()
  @Answers(200, schedulesPage, 'List schedules, by id')
  @Fails('VALIDATION_FAILED')
  async list(@Query({ schema: schedulesQuery }) q: z.output<typeof schedulesQuery>) {
    const after = q.cursor === undefined ? null : decodeCursor(q.cursor, z.tuple([scheduleId]))[0];
    const rows = await this.store.page(q.namespace, after, q.limit + 1);
    return toPage(rows, q.limit, toScheduleView, (row) => [row.schedule_id]);
  }

  @Get(':schedule_id')
  @Answers(200, scheduleDetail, 'One schedule, with its next fire times and what came of the last ones')
  @Fails('NOT_FOUND')
  one(
    @Param('schedule_id', { schema: scheduleId }) id: string,
    @Query({ schema: namespaceQuery }) { namespace }: Namespaced,
  ) {
    return this.schedules.get(namespace, id);
  }

  @Put(':schedule_id')
  @Answers(200, scheduleDetail, 'Create or replace a schedule')
  @Fails('VALIDATION_FAILED', 'PAYLOAD_TOO_LARGE')
  write(
    @Param('schedule_id', { schema: scheduleId }) id: string,
    @Body({ schema: scheduleBody }) body: ScheduleBody,
    @Principal() by: string,
  ) {
    return this.schedules.write(id, body, by);
  }

  @Delete(':schedule_id')
  @Answers(200, scheduleView, 'Remove a schedule, with the record of its firings; its tasks go on')
  @Fails('NOT_FOUND')
  remove(
    @Param('schedule_id', { schema: scheduleId }) id: string,
    @Query({ schema: namespaceQuery }) { namespace }: Namespaced,
  ) {
    return this.schedules.remove(namespace, id);
  }

  @Post(':schedule_id/pause')
  @Answers(200, scheduleView, 'Pause: what passes until it is resumed does not fire')
  @Fails('NOT_FOUND')
  pause(
    @Param('schedule_id', { schema: scheduleId }) id: string,
    @Body({ schema: schedulePauseBody }) { namespace, reason }: z.output<typeof schedulePauseBody>,
    @Principal() by: string,
  ) {
    return this.schedules.pause(namespace, id, reason, by);
  }

  @Post(':schedule_id/resume')
  @Answers(200, scheduleView, 'Go on with the next fire time')
  @Fails('NOT_FOUND')
  resume(
    @Param('schedule_id', { schema: scheduleId }) id: string,
    @Query({ schema: namespaceQuery }) { namespace }: Namespaced,
    @Principal() by: string,
  ) {
    return this.schedules.resume(namespace, id, by);
  }

  @Post(':schedule_id/trigger')
  @Answers(202, triggerAnswer, 'Fire now, beside its times')
  @Fails('NOT_FOUND', 'QUEUE_FULL')
  trigger(
    @Param('schedule_id', { schema: scheduleId }) id: string,
    @Query({ schema: namespaceQuery }) { namespace }: Namespaced,
  ) {
    return this.schedules.trigger(namespace, id);
  }
}
