import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import type { TlsMode } from '../../platform/outbound/guarded-connect.js';
import type { Attempt } from './attempt.js';
import { judgeStatus } from './http-verdict.js';
import { type HttpAnswer, type HttpRequest, safeRequest } from './safe-http.js';

/** What a client that lets its `fetch` be replaced expects of it. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const KEPT_HEADERS = ['content-type', 'mcp-session-id'];
const MOST_STATUS = 599;

/**
 * `fetch` for a client that is not ours, on `safeRequest`: every call has the guard, the limits and the end of
 * the attempt, whatever signal it brings. Redirects and refused credentials reject as a ProbeFailure, so that no
 * client follows the one or tries to heal the other.
 *
 * @param failed is told why a call, or the body of a good answer, failed: clients wrap that, or swallow it
 */
export function safeFetch(
  guard: AddressGuard,
  tls: TlsMode,
  attempt: Attempt,
  failed: (error: unknown) => void,
): Fetch {
  return async (url, init = {}) => {
    try {
      const answer = await safeRequest(guard, requestOf(url, init, tls), attempt);
      if (isRefused(answer)) judgeStatus(answer);
      return responseOf(answer, failed);
    } catch (error) {
      failed(error);
      throw error;
    }
  };
}

function requestOf(url: string | URL, init: RequestInit, tls: TlsMode): HttpRequest {
  return {
    url: String(url),
    method: (init.method ?? 'GET') as HttpRequest['method'],
    headers: Object.fromEntries(new Headers(init.headers)),
    body: typeof init.body === 'string' ? init.body : undefined,
    tls,
  };
}

/** Statuses that nothing is to be made of: not to be talked to like this, or none that there are. */
function isRefused({ status }: HttpAnswer): boolean {
  return (
    status === 401 ||
    status === 403 ||
    status === 407 ||
    (status >= 300 && status < 400) ||
    status > MOST_STATUS
  );
}

function responseOf(answer: HttpAnswer, failed: (error: unknown) => void): Response {
  const { status } = answer;
  const headers = new Headers();
  for (const name of KEPT_HEADERS) {
    const value = answer.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  // These have none, and a Response with one cannot be made.
  const empty = status === 204 || status === 205;
  // What stands in the body of a bad answer, or whether it ends, does not change that it is bad.
  const told = status < 400 ? failed : () => undefined;
  return new Response(empty ? null : ReadableStream.from(tellingWhyItEnds(answer.chunks(), told)), {
    status,
    headers,
  });
}

async function* tellingWhyItEnds(
  chunks: AsyncIterable<Uint8Array>,
  failed: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    failed(error);
    throw error;
  }
}
