import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { randomHex } from '../ids.js';

/** Where a request stands in a distributed trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 lower-case hex digits; the caller's, or fresh. */
  readonly traceId: string;
  /** 16 lower-case hex digits: this request. */
  readonly spanId: string;
  /** The caller's span, when it sent one. */
  readonly parentSpanId?: string;
  readonly sampled: boolean;
  /** The header to hand on, with this request as the parent. */
  readonly traceparent: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    trace: TraceContext;
    /** Who is calling, once authentication has said so. */
    principal?: string;
  }
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZERO = /^0+$/;

/**
 * Continues the trace of a `traceparent` header, or starts one when there is none or it is malformed
 * (the W3C specification: a broken header is ignored, never an error).
 */
export function traceOf(header: string | string[] | undefined): TraceContext {
  const spanId = randomHex(16);
  const parent = typeof header === 'string' ? TRACEPARENT.exec(header) : null;
  const [, version, traceId, parentSpanId, flags, more] = parent ?? [];
  const usable =
    version !== undefined &&
    version !== 'ff' &&
    !(version === '00' && more !== undefined) &&
    !ZERO.test(traceId ?? '') &&
    !ZERO.test(parentSpanId ?? '');
  if (!usable) return trace(randomHex(32), spanId, false);
  const sampled = (parseInt(flags ?? '0', 16) & 1) === 1;
  return trace(traceId ?? '', spanId, sampled, parentSpanId);
}

function trace(traceId: string, spanId: string, sampled: boolean, parentSpanId?: string): TraceContext {
  return {
    traceId,
    spanId,
    sampled,
    traceparent: `00-${traceId}-${spanId}-0${sampled ? 1 : 0}`,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
  };
}

/** Parameter decorator: the `TraceContext` of the request. */
export const Trace = createParamDecorator(
  (_data: unknown, context: ExecutionContext): TraceContext =>
    context.switchToHttp().getRequest<FastifyRequest>().trace,
);
