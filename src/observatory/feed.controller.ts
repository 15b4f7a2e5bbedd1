import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { Fails } from '../platform/http/describe.js';
import { Feed } from './feed.js';
import { eventsQuery } from './feed.wire.js';

@ApiTags('events')
@Controller('events')
export class FeedController {
  constructor(private readonly feed: Feed) {}

  /** `text/event-stream`: what happens to the agents of a namespace, and to the probers of the replicas. */
  @Get()
  @Fails('VALIDATION_FAILED')
  async events(
    @Query({ schema: eventsQuery }) query: z.output<typeof eventsQuery>,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { last_event_id: since, ...filter } = query;
    await this.feed.serve(filter, lastEventId ?? since, reply);
  }
}
