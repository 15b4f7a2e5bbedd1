import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyRequest } from 'fastify';
import { validationFailed } from './schema.pipe.js';

/**
 * Refuses a query where a call of the API takes none: a namespace in it, where the body holds the namespace, would be
 * `default` without a word. Calls that take one have it validated by its schema.
 */
@Injectable()
export class NoQueryGuard implements CanActivate {
  private readonly without = new WeakMap<object, boolean>();

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!request.url.includes('?') || !request.url.startsWith('/api/')) return true;
    const handler = context.getHandler();
    let without = this.without.get(handler);
    if (without === undefined)
      this.without.set(handler, (without = takesNoQuery(context.getClass(), handler.name)));
    const keys = without ? Object.keys(request.query as object) : [];
    if (keys.length === 0) return true;
    throw validationFailed([{ message: '', code: 'unrecognized_keys', keys }], 'query');
  }
}

function takesNoQuery(controller: Type, method: string): boolean {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<
    string,
    unknown
  >;
  return !Object.keys(args).some((key) => key.startsWith(`${RouteParamtypes.QUERY}:`));
}
