import { RouteConfig } from '@nestjs/platform-fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    largeBody?: boolean;
  }
}

/** Lets a route take bodies up to `REACH_BATCH_BODY_LIMIT_BYTES`. */
export const LargeBody = () => RouteConfig({ largeBody: true });
