import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import { Answers, Fails } from '../platform/http/describe.js';
import { Routes } from './routes.js';
import { outcomesAnswer, outcomesBody, routeAnswer, routeCapability, routeQuery } from './routes.wire.js';
import { Simulation } from './simulation.js';
import { simulateAnswer, simulateBody, type SimulateBody } from './simulation.wire.js';

@ApiTags('route')
@Controller()
export class RouteController {
  constructor(
    private readonly routes: Routes,
    private readonly simulation: Simulation,
  ) {}

  @Get('route/:capability')
  @Answers(200, routeAnswer, 'Whom to call for a capability, for callers that call agents themselves')
  @Fails('VALIDATION_FAILED')
  route(
    @Param('capability', { schema: routeCapability }) capability: string,
    @Query({ schema: routeQuery }) query: z.output<typeof routeQuery>,
  ) {
    return this.routes.advise(capability, query);
  }

  @Post('route/simulate')
  @Answers(200, simulateAnswer, 'Who would get such a task now, and why nobody else; nothing is delivered')
  @Fails('VALIDATION_FAILED')
  simulate(@Body({ schema: simulateBody }) body: SimulateBody) {
    return this.simulation.simulate(body);
  }

  @Post('outcomes')
  @Answers(
    200,
    outcomesAnswer,
    'What became of calls that the caller made itself; they count as deliveries do',
  )
  @Fails('VALIDATION_FAILED')
  outcomes(@Body({ schema: outcomesBody }) body: z.output<typeof outcomesBody>) {
    return this.routes.report(body);
  }
}
