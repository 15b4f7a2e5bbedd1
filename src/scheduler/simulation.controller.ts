import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Answers, Fails } from '../platform/http/describe.js';
import { Simulation } from './simulation.js';
import { simulateAnswer, simulateBody, type SimulateBody } from './simulation.wire.js';

@ApiTags('route')
@Controller('route')
export class SimulationController {
  constructor(private readonly simulation: Simulation) {}

  @Post('simulate')
  @Answers(200, simulateAnswer, 'Who would get such a task now, and why nobody else; nothing is delivered')
  @Fails('VALIDATION_FAILED')
  simulate(@Body({ schema: simulateBody }) body: SimulateBody) {
    return this.simulation.simulate(body);
  }
}
