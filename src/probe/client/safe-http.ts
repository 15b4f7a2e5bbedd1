import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Client, type Dispatcher } from 'undici';
import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import { guardedConnector, type TlsMode } from '../../platform/outbound/guarded-connect.js';
import type { Attempt } from './attempt.js';
import { ProbeFailure } from './probe-failure.js';

/** Most bytes of an answer, as sent and after decompression. */
export const BODY_LIMIT_BYTES = 64 * 1024;
const HEADER_LIMIT_BYTES = 16 * 1024;

export interface HttpRequest {
  url: string;
  method: 'GET' | 'HEAD' | 'POST' | 'OPTIONS' | 'DELETE';
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  tls: TlsMode;
}

export interface HttpAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * The body as text, decompressed.
   * @throws ProbeFailure `too_large`, `closed`, or `wrong_answer` when it cannot be decompressed
   */
  text(): Promise<string>;
  /** The body as it comes, decompressed, for answers that need not end. Throws as `text` does. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Lets the body come to its end, or to the limit, whichever is first; true when it came to its end. */
  drained(): Promise<boolean>;
}

/**
 * One HTTP request on a connection of its own, to an address that the guard allows, redirects not followed.
 * Everything ends with the attempt.
 *
 * @throws ConnectError, ProbeFailure `first_byte_timeout`, or an error of undici
 */
export async function safeRequest(
  guard: AddressGuard,
  request: HttpRequest,
  attempt: Attempt,
): Promise<HttpAnswer> {
  const url = new URL(request.url);
  const firstByte = new FirstByte(attempt);
  const connector = guardedConnector(guard, attempt.limits.connectMs, request.tls, attempt.signal);
  const client = new Client(url.origin, {
    // Kept apart from the connection: connecting has a time of its own.
    connect: (options, callback) =>
      connector(options, (...outcome) => {
        const [, socket] = outcome;
        if (socket) {
          attempt.hold(() => socket.destroy());
          firstByte.await(socket);
        }
        callback(...outcome);
      }),
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: HEADER_LIMIT_BYTES,
    pipelining: 1,
  });
  attempt.hold(() => void client.destroy().catch(() => undefined));
  const sent = client.request({
    path: `${url.pathname}${url.search}`,
    method: request.method,
    headers: {
      'user-agent': 'agent-reach-prober',
      accept: '*/*',
      'accept-encoding': 'identity',
      ...request.headers,
    },
    ...(request.body !== undefined && { body: request.body }),
  });
  const answer = await Promise.race([sent, firstByte.late]).finally(() => firstByte.came());
  return { status: answer.statusCode, headers: answer.headers, ...bodyOf(answer) };
}

/** The time from the connection to the first byte of the answer. */
class FirstByte {
  readonly late: Promise<never>;
  private fail!: (failure: ProbeFailure) => void;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly attempt: Attempt) {
    this.late = new Promise((_, reject) => (this.fail = reject));
    this.late.catch(() => undefined);
    attempt.hold(() => this.came());
  }

  await(socket: { readonly bytesRead: number }): void {
    const { firstByteMs } = this.attempt.limits;
    const before = socket.bytesRead;
    this.timer = setTimeout(() => {
      // Headers that drip have begun: the total time is theirs.
      if (socket.bytesRead > before) return;
      this.fail(
        new ProbeFailure('first_byte_timeout', `connected, but no answer began in ${firstByteMs} ms`),
      );
    }, firstByteMs);
  }

  came(): void {
    clearTimeout(this.timer);
  }
}

function bodyOf(answer: Dispatcher.ResponseData): Pick<HttpAnswer, 'text' | 'chunks' | 'drained'> {
  return {
    async text() {
      const chunks: Buffer[] = [];
      for await (const chunk of bounded(answer)) chunks.push(chunk);
      return Buffer.concat(chunks).toString('utf8');
    },
    chunks: () => bounded(answer),
    async drained() {
      try {
        for await (const _ of bounded(answer));
        return true;
      } catch (error) {
        if (error instanceof ProbeFailure && error.fault === 'too_large') return false;
        throw error;
      }
    },
  };
}

/** The body, decompressed, up to the limit. */
async function* bounded(answer: Dispatcher.ResponseData): AsyncGenerator<Buffer> {
  const decoder = decoderOf(answer.headers['content-encoding']);
  const body: Readable = answer.body;
  const stream = decoder ? body.pipe(decoder) : body;
  body.on('error', (error) => decoder?.destroy(error));
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > BODY_LIMIT_BYTES)
        throw new ProbeFailure('too_large', `the answer has more than ${BODY_LIMIT_BYTES} bytes`);
      yield chunk;
    }
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (typeof code === 'string' && code.startsWith('Z_'))
      throw new ProbeFailure('wrong_answer', `the answer cannot be decompressed (${code})`);
    throw error;
  } finally {
    body.destroy();
    decoder?.destroy();
  }
}

function decoderOf(encoding: string | string[] | undefined): Transform | undefined {
  const name = String(encoding ?? '')
    .trim()
    .toLowerCase();
  switch (name) {
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      throw new ProbeFailure('wrong_answer', `the answer has an encoding that nobody asked for: ${name}`);
  }
}
