import { RouteConfig } from '@nestjs/platform-fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    largeBody?: boolean;
    agentText?: boolean;
  }
}

/** Lets a route take bodies up to `REACH_BATCH_BODY_LIMIT_BYTES`. */
export const LargeBody = () => RouteConfig({ largeBody: true });

/**
 * For what agents report: text that the stores cannot carry is taken and stored with a replacement. Refusing
 * it would lose the result of work that was done.
 */
export const AgentBody = () => RouteConfig({ largeBody: true, agentText: true });
