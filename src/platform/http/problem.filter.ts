import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ERROR_CATALOGUE, ReachError, wireCode } from '../../core/errors.js';
import type { NearMiss } from './routes.js';
import { toReachError } from './to-reach-error.js';

export const PROBLEM_TYPE = 'application/problem+json';

/** The wire form of an error (RFC 9457). */
export function problemOf(error: ReachError, instance: string, traceId: string): Record<string, unknown> {
  const { task_id, attempt, agent_id, errors, retry_after_ms } = error.extra;
  return {
    type: `https://agentreach.dev/problems/${error.code.toLowerCase().replaceAll('_', '-')}`,
    title: ERROR_CATALOGUE[error.code].title,
    status: error.status,
    detail: error.message.toWellFormed(),
    instance: instance.toWellFormed(),
    code: wireCode(error.code),
    retryable: error.retryable,
    trace_id: traceId,
    ...(task_id === undefined ? {} : { task_id }),
    ...(attempt === undefined ? {} : { attempt }),
    ...(agent_id === undefined ? {} : { agent_id }),
    ...(errors === undefined ? {} : { errors }),
    ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
  };
}

/**
 * Renders whatever was thrown as `application/problem+json`. A `ReachError` renders as itself, what the
 * framework raised as the fitting code, and everything else as INTERNAL: logged with the trace id, without
 * a word of it on the wire.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly log = new Logger(ProblemFilter.name);

  /** @param nearMiss what a path that no handler took may have meant. */
  constructor(private readonly nearMiss: (path: string) => NearMiss) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const error = this.known(thrown, request) ?? this.bug(thrown, request);
    if (reply.sent || reply.raw.headersSent) {
      // Part of an answer is out: only a broken connection still tells the client that the rest is missing.
      reply.raw.destroy();
      return;
    }
    const retryAfterMs = error.extra.retry_after_ms;
    if (error.extra.headers !== undefined) void reply.headers({ ...error.extra.headers });
    if (retryAfterMs !== undefined) void reply.header('retry-after', Math.ceil(retryAfterMs / 1000));
    if (error.code === 'METHOD_NOT_ALLOWED') {
      void reply.header('allow', this.nearMiss(request.url).methods.join(', '));
    }
    if (error.status === 401) void reply.header('www-authenticate', 'Bearer');
    void reply
      .status(error.status)
      .header('content-type', PROBLEM_TYPE)
      .send(problemOf(error, request.url, request.trace?.traceId ?? ''));
  }

  private known(thrown: unknown, request: FastifyRequest): ReachError | undefined {
    const error = toReachError(thrown);
    if (error?.code !== 'NOT_FOUND' || thrown === error) return error;
    const { methods, emptyParam } = this.nearMiss(request.url);
    if (emptyParam !== undefined) {
      const detail = `path parameter ${emptyParam}: must not be empty`;
      return new ReachError('VALIDATION_FAILED', detail, { errors: [{ pointer: `/${emptyParam}`, detail }] });
    }
    if (methods.length === 0) return new ReachError('NOT_FOUND', `There is nothing at ${request.url}`);
    return new ReachError('METHOD_NOT_ALLOWED', `${request.method} is not one of ${methods.join(', ')}`);
  }

  private bug(thrown: unknown, request: FastifyRequest): ReachError {
    this.log.error({
      msg: 'request failed by a bug',
      err: thrown,
      trace_id: request.trace?.traceId,
      method: request.method,
      route: request.routeOptions.url,
    });
    return new ReachError('INTERNAL', 'Something went wrong here; the log has it under the trace id');
  }
}
