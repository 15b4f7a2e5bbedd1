import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { TokenAuthenticator } from './token-authenticator.js';

/** Paths that answer without credentials: what keeps the process alive must not depend on secrets, and public keys are public. */
const OPEN_PATHS = new Set(['/livez', '/readyz', '/startupz', '/.well-known/jwks.json']);

/**
 * Authenticates every request. A Fastify hook rather than a Nest guard: it runs before the body is read, so a
 * caller without credentials cannot make the server parse megabytes.
 */
@Global()
@Module({ providers: [TokenAuthenticator], exports: [TokenAuthenticator] })
export class SecurityModule implements OnModuleInit {
  constructor(
    private readonly adapter: HttpAdapterHost<FastifyAdapter>,
    private readonly authenticator: TokenAuthenticator,
  ) {}

  onModuleInit(): void {
    // No adapter in a command that serves nothing.
    this.adapter.httpAdapter?.getInstance().addHook('onRequest', (request, _reply, done) => {
      if (OPEN_PATHS.has(request.url.split('?', 1)[0] ?? '')) return done();
      // Its own routes say so of themselves: the files of the console.
      if (request.routeOptions.config.open?.(request)) return done();
      try {
        request.principal = this.authenticator.authenticate(request.headers);
        done();
      } catch (error) {
        done(error as Error);
      }
    });
  }
}
