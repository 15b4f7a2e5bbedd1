import { Body, Controller, Header, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import { Answers } from '../../platform/http/describe.js';
import { Introspection } from './introspection.js';
import { introspectAnswer, introspectBody } from './tokens.wire.js';

@ApiTags('tokens')
@Controller('tokens')
export class TokensController {
  constructor(private readonly introspection: Introspection) {}

  @Post('introspect')
  @Header('cache-control', 'no-store')
  @Answers(200, introspectAnswer, 'Whether a task token holds: its delivery runs at this moment')
  async introspect(
    @Body({ schema: introspectBody }) { token }: z.output<typeof introspectBody>,
  ): Promise<z.output<typeof introspectAnswer>> {
    const claims = await this.introspection.of(token);
    return claims === undefined ? { active: false } : { active: true, ...claims };
  }
}
