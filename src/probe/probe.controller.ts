import { Controller, Get, Inject } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Answers } from '../platform/http/describe.js';
import { Budget } from './budget.js';
import { ProbeEngine } from './probe-engine.js';
import { probeBudget } from './probe.wire.js';
import { SelfWatch } from './self-watch.js';

@ApiTags('probe')
@Controller('probe')
export class ProbeController {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly accounts: Budget,
    private readonly engine: ProbeEngine,
    private readonly self: SelfWatch,
  ) {}

  @Get('budget')
  @Answers(200, probeBudget, 'What probing costs, with the arithmetic')
  budget() {
    const { doubt } = this.self;
    return {
      ...this.accounts.state(),
      this_replica: {
        replica_id: this.config.replicaId,
        ...this.engine.load(),
        ...(doubt !== undefined && { doubt }),
      },
    };
  }
}
