import { Agent, request } from 'undici';
import { storableText, truncate } from '../../core/text.js';
import { SourceError } from './registry-source.js';

const MOST_BYTES = 8 * 1024 * 1024;
const MOST_CONNECTIONS = 128;
const CONNECT_TIMEOUT_MS = 3000;
const QUOTED_CHARACTERS = 200;

export interface SourceRequest {
  /** Below the base address, with its query. */
  path: string;
  /** For everything, from the connection to the last byte. */
  timeoutMs: number;
  signal: AbortSignal;
  headers?: Record<string, string>;
  /** Sent as a form by POST. */
  form?: Record<string, string>;
}

export interface SourceAnswer {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: unknown;
}

/**
 * JSON over HTTP from a source. Its address is the operator's word, so it is not judged as those of agents are; what
 * it says is bounded in size and time all the same, and redirects are not followed.
 */
export class SourceHttp {
  private readonly base: string;
  private readonly dispatcher = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    connections: MOST_CONNECTIONS,
    maxResponseSize: MOST_BYTES,
    // Long polls stay silent for long; each request has its own end.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  /** @param url the base address, with a path where there is one */
  constructor(
    private readonly name: string,
    url: string,
  ) {
    this.base = url.replace(/\/+$/, '');
  }

  /** `host:port`, as credentials are bound to it. */
  get host(): string {
    const { hostname, port, protocol } = new URL(this.base);
    return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
  }

  /** @throws SourceError for anything but a 2xx with JSON in it, within bounds; the message names path and reason */
  async json(asked: SourceRequest): Promise<SourceAnswer> {
    const timeout = AbortSignal.timeout(asked.timeoutMs);
    const path = asked.path.split('?')[0] ?? '';
    try {
      const answer = await request(`${this.base}${asked.path}`, {
        method: asked.form === undefined ? 'GET' : 'POST',
        dispatcher: this.dispatcher,
        signal: AbortSignal.any([asked.signal, timeout]),
        headers: {
          'user-agent': 'agent-reach',
          accept: 'application/json',
          ...(asked.form && { 'content-type': 'application/x-www-form-urlencoded' }),
          ...asked.headers,
        },
        ...(asked.form && { body: new URLSearchParams(asked.form).toString() }),
      });
      const text = await answer.body.text();
      if (answer.statusCode < 200 || answer.statusCode > 299)
        throw new SourceError(
          `${this.name} answered ${path} with ${answer.statusCode}${quoted(text)}`,
          answer.statusCode,
        );
      return { headers: answer.headers, body: this.parsed(path, text) };
    } catch (error) {
      if (error instanceof SourceError) throw error;
      const why = timeout.aborted ? `no answer within ${asked.timeoutMs} ms` : (error as Error).message;
      throw new SourceError(`${this.name} did not answer ${path}: ${why}`, undefined, { cause: error });
    }
  }

  /** Cuts its connections. */
  close(): Promise<void> {
    return this.dispatcher.destroy();
  }

  private parsed(path: string, text: string): unknown {
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw new SourceError(`${this.name} answered ${path} with no JSON${quoted(text)}`, undefined, {
        cause: error,
      });
    }
  }
}

function quoted(text: string): string {
  const line = storableText(text.replace(/[\s\p{Cc}]+/gu, ' ').trim());
  return line === '' ? '' : `: ${truncate(line, QUOTED_CHARACTERS)}`;
}
