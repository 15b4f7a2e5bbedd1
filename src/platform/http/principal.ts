import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Parameter decorator: the name of who is calling, as authentication found it (`TokenAuthenticator`). */
export const Principal = createParamDecorator(
  (_data: unknown, context: ExecutionContext): string =>
    context.switchToHttp().getRequest<FastifyRequest>().principal ?? 'anonymous',
);
