import type * as Sdk from '@modelcontextprotocol/client';
import type {
  JSONRPCMessage,
  RequestId,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client';
import { ProbeFailure } from './probe-failure.js';
import type { Fetch } from './safe-fetch.js';

/** The SDK as it is loaded: late, and only where somebody depends on an MCP server. */
export type McpSdk = typeof Sdk;

/** All that a probe ever says. Answers to what a server asks are not among it. */
const SAID = new Set(['server/discover', 'initialize', 'notifications/initialized', 'ping']);

interface Where {
  url: string;
  headers: Readonly<Record<string, string>>;
  fetch: Fetch;
}

/**
 * The SDK's transport under the rules of a probe. Of what a server says only the reply to a waiting call is
 * passed on, so that no server makes the prober answer requests, one connection each. The stream that the SDK
 * opens for what a server may say later is not opened, nothing is tried again, and a call whose answer ended
 * without the reply fails at once, where the SDK would wait for its time to be over.
 */
export class McpConnection implements Transport {
  onclose: Transport['onclose'];
  onerror: Transport['onerror'];
  onmessage: Transport['onmessage'];
  readonly hasPerRequestStream = true;
  /** The versions that the server said it speaks, of whatever revision. */
  supportedVersions: readonly string[] = [];

  private readonly inner: StreamableHTTPClientTransport;
  private readonly waiting = new Map<RequestId, string>();
  private streams = false;

  /** @param failed is told why nothing can come of a call any more */
  constructor(
    sdk: McpSdk,
    where: Where,
    private readonly failed: (error: unknown) => void,
  ) {
    this.inner = new sdk.StreamableHTTPClientTransport(new URL(where.url), {
      fetch: (url, init) => this.fetch(where.fetch, url, init),
      requestInit: { headers: { ...where.headers } },
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 0,
        maxReconnectionDelay: 0,
        reconnectionDelayGrowFactor: 1,
      },
    });
    this.inner.onclose = () => this.onclose?.();
    this.inner.onerror = (error) => this.erred(error);
    this.inner.onmessage = (message) => this.received(message);
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message) || !SAID.has(message.method)) return;
    const id = 'id' in message ? message.id : undefined;
    if (id !== undefined) this.waiting.set(id, message.method);
    const ended = (how: string) => {
      if (id !== undefined && this.waiting.delete(id)) this.failed(new ProbeFailure('wrong_answer', how));
    };
    await this.inner.send(message, {
      onRequestStreamEnd: () => ended('the stream of events ended without a reply'),
    });
    if (!this.streams) ended('the answer is no reply to the call');
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion(version);
  }

  /** Ends the session, if the server gave one. Rejects when the server did not agree. */
  endSession(): Promise<void> {
    return this.inner.terminateSession();
  }

  private async fetch(fetch: Fetch, url: string | URL, init?: RequestInit): Promise<Response> {
    // As a server answers that offers no such stream.
    if (init?.method === 'GET') return new Response(null, { status: 405 });
    const response = await fetch(url, init);
    this.streams = /^text\/event-stream\s*(;|$)/i.test(response.headers.get('content-type') ?? '');
    return response;
  }

  private received(message: JSONRPCMessage): void {
    if (!('id' in message) || message.id === undefined || 'method' in message) return;
    const method = this.waiting.get(message.id);
    if (method === undefined) return;
    this.waiting.delete(message.id);
    if (method === 'server/discover') this.supportedVersions = versionsIn(message);
    this.onmessage?.(message);
  }

  private erred(error: Error): void {
    if (error.name === 'SyntaxError')
      this.failed(new ProbeFailure('wrong_answer', `the answer is not JSON: ${error.message}`));
    this.onerror?.(error);
  }
}

/** In a result they are `supportedVersions`, in a refusal of the version that was asked for `supported`. */
function versionsIn(reply: JSONRPCMessage): readonly string[] {
  const { result, error } = reply as {
    result?: { supportedVersions?: unknown };
    error?: { data?: { supported?: unknown } | null };
  };
  const versions = result?.supportedVersions ?? error?.data?.supported;
  return Array.isArray(versions) ? versions.filter((version) => typeof version === 'string') : [];
}
