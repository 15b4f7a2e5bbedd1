import type { z } from 'zod';
import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import { httpDependency } from '../../registry/dependency.wire.js';
import { attempt } from '../client/attempt.js';
import { credentialHeaders, credentialUrl } from '../client/http-credential.js';
import type { Credentials } from '../../platform/outbound/credentials.js';
import { judgeFields, judgeStatus, parseJson } from '../client/http-verdict.js';
import { ProbeFailure } from '../client/probe-failure.js';
import { type HttpAnswer, safeRequest } from '../client/safe-http.js';
import type { Prober } from '../prober.js';
import { hostPort, keyOfTarget, readTarget, slowMsOf, type Targeted } from './target.js';

type HttpTarget = Targeted<z.output<typeof httpDependency>>;

/** One request, and what its answer should look like. A body is read only as far as somebody cares about it. */
export function httpProber(guard: AddressGuard, credentials: Credentials): Prober<HttpTarget> {
  return {
    type: 'http',
    parse: (declared) => readTarget(httpDependency, declared),
    keyOf: keyOfTarget,
    hostOf: (t) => hostPort(t.target),
    probe: (t, limits, signal) =>
      attempt(limits, slowMsOf(t, limits), signal, async (run, secrets) => {
        const { method, headers, body, tls, expect } = t.options;
        const answer = await safeRequest(
          guard,
          {
            url: await credentialUrl(t, credentials, secrets),
            method,
            body,
            tls,
            headers: { ...headers, ...(await credentialHeaders(t, credentials, secrets)) },
          },
          run,
        );
        judgeStatus(answer, expect.status);
        return judgeBody(answer, expect);
      }),
  };
}

async function judgeBody(
  answer: HttpAnswer,
  expect: HttpTarget['options']['expect'],
): Promise<string | undefined> {
  if (expect.body_contains === undefined && expect.json === undefined) {
    // A page may be as long as it likes where nobody asked what stands in it; it must not break off, though.
    const whole = await answer.drained();
    return whole ? `HTTP ${answer.status}` : `HTTP ${answer.status}; the long body was not read to its end`;
  }
  const text = await answer.text();
  if (expect.body_contains !== undefined && !text.includes(expect.body_contains))
    throw new ProbeFailure('wrong_answer', 'the answer does not contain the expected text');
  if (expect.json !== undefined) judgeFields(parseJson(text), expect.json);
  return `HTTP ${answer.status}`;
}
