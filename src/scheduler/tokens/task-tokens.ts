import { Inject, Injectable } from '@nestjs/common';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { TaskTokenClaims } from '../../core/task-token.js';
import { deliveryIdOf } from '../../core/task-state.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import type { ReachEntry } from '../../registry/reach-table.js';
import { TOKEN_ALGORITHM, TokenKeys } from '../../security/token-keys.js';

/** What a token is made for. */
export interface TokenSubject {
  taskId: string;
  fence: number;
  capability: string;
  /** The delivery is over then at the latest, by the clock of the database. */
  endsAt: Date;
}

/**
 * Tokens that an agent shows to its dependencies while it works on a delivery. They say which task it is, who works on it and
 * until when, and whoever has the public keys can check them without asking. The API takes none of them.
 */
@Injectable()
export class TaskTokens {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'taskTokenIssuer'>,
    private readonly keys: TokenKeys,
  ) {}

  /** The token of a delivery; undefined where the agent declared no dependency, as then it is good for nothing. */
  async sign(agent: ReachEntry | undefined, subject: TokenSubject): Promise<string | undefined> {
    if (agent === undefined || agent.dependencies.length === 0) return undefined;
    const { kid, privateKey } = this.keys.current();
    const claims: TaskTokenClaims = {
      iss: this.config.taskTokenIssuer,
      sub: subject.taskId,
      aud: agent.dependencies.map((d) => d.name),
      jti: deliveryIdOf(subject.taskId, subject.fence),
      // The whole second after: a token must not end before its delivery.
      exp: Math.ceil(subject.endsAt.getTime() / 1000),
      namespace: agent.namespace,
      agent_id: agent.agentId,
      capability: subject.capability,
    };
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: TOKEN_ALGORITHM, kid, typ: 'JWT' })
      .sign(privateKey);
  }

  /** What a token says; undefined: it is none of ours, or over. */
  async verified(token: string): Promise<TaskTokenClaims | undefined> {
    try {
      const { payload } = await jwtVerify<TaskTokenClaims>(token, this.keys.forVerification, {
        issuer: this.config.taskTokenIssuer,
        algorithms: [TOKEN_ALGORITHM],
        requiredClaims: ['exp', 'jti', 'sub'],
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }
}
