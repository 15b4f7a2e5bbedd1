import { Injectable } from '@nestjs/common';
import { parseDeliveryId } from '../../core/task-state.js';
import type { TaskTokenClaims } from '../../core/task-token.js';
import { DeliveryStore } from '../delivery.store.js';
import { TaskTokens } from './task-tokens.js';

/** Tells of tokens what nobody can who only has the keys: whether the delivery still runs. */
@Injectable()
export class Introspection {
  constructor(
    private readonly tokens: TaskTokens,
    private readonly deliveries: DeliveryStore,
  ) {}

  /** What a token says if its delivery runs at this moment; else undefined. */
  async of(token: string): Promise<TaskTokenClaims | undefined> {
    const claims = await this.tokens.verified(token);
    if (claims === undefined) return undefined;
    const ref = parseDeliveryId(claims.jti);
    const now = await this.deliveries.inspect(ref);
    return now?.state === 'running' && now.fence === ref.fence ? claims : undefined;
  }
}
