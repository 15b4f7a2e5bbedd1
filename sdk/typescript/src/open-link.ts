import { ReachConnectionError } from './errors.js';
import { type Link, type LinkListener } from './link.js';
import { PollLink } from './poll-link.js';
import { openSession, UpgradeRefused } from './session-link.js';

export interface OpenOptions {
  urls: readonly string[];
  token: string | undefined;
  transport: 'session' | 'pull' | 'push';
  /** A call without an answer for so long counts as a broken connection. */
  answerTimeoutMs: number;
}

const HANDSHAKE_TIMEOUT_MS = 5000;
const CLAIM_WAIT_MS = 20_000;
const RETRY_SESSION_AFTER_MS = 30_000;
/** The centre (or its proxy) is there but cannot serve now: no reason to leave sessions. */
const TRY_AGAIN_STATUSES = new Set([429, 502, 503, 504]);
/** Nobody is there; plain HTTP would not get through either. */
const AWAY = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN']);

/** Opens the best link there is: a session, else polling where the WebSocket does not get through. */
export async function openLink(options: OpenOptions, listener: LinkListener, attempt: number): Promise<Link> {
  const url = options.urls[attempt % options.urls.length] ?? '';
  if (options.transport !== 'session') return poll(options, url, listener, undefined);
  try {
    const { token, answerTimeoutMs } = options;
    return await openSession(
      { url, token, answerTimeoutMs, handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS },
      listener,
    );
  } catch (error) {
    if (!fallsBack(error)) throw error;
    return poll(options, url, listener, RETRY_SESSION_AFTER_MS);
  }
}

function fallsBack(error: unknown): boolean {
  if (error instanceof UpgradeRefused) return !TRY_AGAIN_STATUSES.has(error.status);
  if (!(error instanceof ReachConnectionError)) return false;
  const code = (error.cause as { code?: string } | undefined)?.code;
  return code === undefined || !AWAY.has(code);
}

function poll(
  options: OpenOptions,
  url: string,
  listener: LinkListener,
  retireAfterMs: number | undefined,
): Link {
  return new PollLink(
    {
      url,
      token: options.token,
      claims: options.transport !== 'push',
      callTimeoutMs: options.answerTimeoutMs,
      claimWaitMs: CLAIM_WAIT_MS,
      retireAfterMs,
    },
    listener,
  );
}
