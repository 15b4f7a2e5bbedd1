import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ReachError } from '../../core/errors.js';
import type { Config } from '../config/config.js';
import { parseJsonBody, pointerOf, textFault } from './json-body.js';
import type { RouteTable } from './routes.js';
import { traceOf } from './trace.js';

/**
 * Marks a push to an agent, with the delivery id. An agent may be registered at our own address, and an offer looks
 * much like a task: taken as one, each push would make another task, without end.
 */
export const PUSH_HEADER = 'reach-delivery-id';

/**
 * What happens to every request before a controller sees it: trace context, body limits, the JSON parser,
 * and the check that no text of path or query holds what the stores cannot carry.
 */
export function installHooks(fastify: FastifyInstance, config: Config, routes: RouteTable): void {
  fastify.decorateRequest('trace');
  fastify.decorateRequest('principal');
  fastify.addHook('onRequest', (request, reply, done) => {
    request.trace = traceOf(request.headers.traceparent);
    void reply.header('x-trace-id', request.trace.traceId);
    done(request.headers[PUSH_HEADER] === undefined ? undefined : pushedHere());
  });
  fastify.addHook('onRoute', (route) => {
    routes.add(route.url, route.method);
    if (route.config?.largeBody) route.bodyLimit = config.batchBodyLimitBytes;
  });
  fastify.addHook('preValidation', (request, _reply, done) => {
    done(badText(request, 'params', 'path parameter') ?? badText(request, 'query', 'query parameter'));
  });
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, parseJsonBody(body as Buffer, request.routeOptions.config.agentText));
    } catch (error) {
      done(error as Error);
    }
  });
}

function pushedHere(): ReachError {
  return new ReachError(
    'VALIDATION_FAILED',
    `This call has the header ${PUSH_HEADER}: a push to an agent whose endpoint is this server`,
  );
}

function badText(request: FastifyRequest, part: 'params' | 'query', where: string): ReachError | undefined {
  const values = request[part] as Record<string, string | string[]> | null | undefined;
  for (const [name, value] of Object.entries(values ?? {})) {
    const detail = textFault(name) ?? [value].flat().map(textFault).find(Boolean);
    if (detail) {
      const pointer = pointerOf([name]);
      return new ReachError('VALIDATION_FAILED', `${where} ${pointer.slice(1)} ${detail}`, {
        errors: [{ pointer, detail: `${where}: ${detail}` }],
      });
    }
  }
  return undefined;
}
