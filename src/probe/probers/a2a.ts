import type { z } from 'zod';
import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import { a2aDependency } from '../../registry/dependency.wire.js';
import { attempt } from '../client/attempt.js';
import { credentialHeaders } from '../client/http-credential.js';
import type { Credentials } from '../../platform/outbound/credentials.js';
import { judgeStatus, parseJson } from '../client/http-verdict.js';
import { printable, ProbeFailure } from '../client/probe-failure.js';
import { safeRequest } from '../client/safe-http.js';
import type { Prober } from '../prober.js';
import { hostPort, keyOfTarget, readTarget, slowMsOf, type Targeted } from './target.js';

type A2aTarget = Targeted<z.output<typeof a2aDependency>>;
const CARD = '.well-known/agent-card.json';

/** Fetches the agent's card, and sees that it is one. Nothing is sent to the agent itself. */
export function a2aProber(guard: AddressGuard, credentials: Credentials): Prober<A2aTarget> {
  return {
    type: 'a2a',
    parse: (declared) => readTarget(a2aDependency, declared),
    keyOf: keyOfTarget,
    hostOf: (t) => hostPort(t.target),
    probe: (t, limits, signal) =>
      attempt(limits, slowMsOf(t, limits), signal, async (run, secrets) => {
        const headers = { ...t.options.headers, ...(await credentialHeaders(t, credentials, secrets)) };
        const answer = await safeRequest(
          guard,
          {
            url: cardOf(t.target),
            method: 'GET',
            tls: t.options.tls,
            headers: { accept: 'application/json', ...headers },
          },
          run,
        );
        judgeStatus(answer);
        return judgeCard(parseJson(await answer.text()));
      }),
  };
}

/** Where the card of a target is: the target itself where it ends in .json. */
export function cardOf(target: string): string {
  const url = new URL(target);
  if (url.pathname.endsWith('.json')) return url.href;
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${CARD}`;
  return url.href;
}

/** A card has a name, and says where the agent is: `supportedInterfaces` since 1.0, `url` before. */
function judgeCard(card: unknown): string {
  const { name, url, supportedInterfaces } = (card ?? {}) as Record<string, unknown>;
  const place =
    typeof url === 'string' || (Array.isArray(supportedInterfaces) && supportedInterfaces.length > 0);
  if (typeof name === 'string' && place) return `card of ${printable(name, 60)}`;
  throw new ProbeFailure(
    'wrong_answer',
    'the answer is no agent card: it has no name, or does not say where the agent is',
  );
}
