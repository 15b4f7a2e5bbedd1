import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { ReachError } from '../core/errors.js';
import { type Config, CONFIG } from '../platform/config/config.js';

const BEARER = /^Bearer +([^\s]+)$/i;

/** Tells who calls by the bearer token. Without configured tokens everyone is let in (on loopback only). */
@Injectable()
export class TokenAuthenticator {
  private readonly digests: readonly Uint8Array[];

  constructor(@Inject(CONFIG) config: Pick<Config, 'authTokens'>) {
    this.digests = config.authTokens.map(digest);
  }

  /**
   * The name of the caller: `anonymous` where no token is configured, else a name that is stable for the
   * token and does not reveal it.
   *
   * @throws ReachError UNAUTHENTICATED when the header is missing, malformed or has an unknown token.
   */
  authenticate(headers: IncomingHttpHeaders): string {
    if (this.digests.length === 0) return 'anonymous';
    const token = BEARER.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) {
      throw new ReachError(
        'UNAUTHENTICATED',
        'Send the header Authorization: Bearer <one of REACH_AUTH_TOKENS>',
      );
    }
    const given = digest(token);
    // Every token is compared, in constant time, so that the time tells nothing about any of them.
    const known = this.digests.reduce((found, own) => timingSafeEqual(own, given) || found, false);
    if (!known) throw new ReachError('UNAUTHENTICATED', 'The bearer token is not one of REACH_AUTH_TOKENS');
    return `token:${Buffer.from(given).toString('hex').slice(0, 12)}`;
  }
}

function digest(token: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(token, 'utf8').digest());
}
