import { Inject, Injectable, Logger } from '@nestjs/common';
import { Agent, errors, request } from 'undici';
import { truncate } from '../../core/text.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { PUSH_HEADER } from '../../platform/http/hooks.js';
import { Shutdown } from '../../platform/lifecycle/shutdown.js';
import { AddressGuard } from '../../platform/outbound/address-guard.js';
import { ConnectError } from '../../platform/outbound/connect-error.js';
import { guardedConnector } from '../../platform/outbound/guarded-connect.js';
import { OfferWriter } from './offer-writer.js';
import { isLapsed, type Offered } from './offered.js';

/** What became of a push. `sent`: the agent may have got it, so work may have begun. */
export type PushAnswer =
  | { kind: 'acknowledged' }
  | { kind: 'refused'; detail: string }
  | { kind: 'failed'; sent: boolean; detail: string };

type PushListener = (offered: Offered, answer: PushAnswer) => Promise<void>;

const ANSWER_LIMIT_BYTES = 64 * 1024;
/** Pushes under way at a time, over all agents; each agent's share is bounded by its slots. */
const CONNECTIONS_PER_AGENT = 64;

/** HTTP push: POST of the offer to the agent's endpoint. 2xx with `{"ack": true}` is the ACK. */
@Injectable()
export class PushTransport {
  private readonly log = new Logger(PushTransport.name);
  private readonly dispatcher: Agent;
  private readonly pending = new Set<Promise<void>>();
  private listener: PushListener | undefined;

  constructor(
    @Inject(CONFIG) config: Config,
    guard: AddressGuard,
    shutdown: Shutdown,
    private readonly writer: OfferWriter,
  ) {
    this.dispatcher = new Agent({
      connect: guardedConnector(guard, config.connectTimeoutMs),
      headersTimeout: config.firstByteTimeoutMs,
      bodyTimeout: config.firstByteTimeoutMs,
      connections: CONNECTIONS_PER_AGENT,
      keepAliveTimeout: 30_000,
      maxResponseSize: ANSWER_LIMIT_BYTES,
    });
    shutdown.on('drain', 'pushes', () => Promise.all(this.pending));
    shutdown.on('clients', 'push connections', () => this.dispatcher.close());
  }

  /** Says who is told the answers. */
  connect(listener: PushListener): void {
    this.listener = listener;
  }

  /** Starts the push; the answer goes to the listener. Never throws. */
  deliver(offered: Offered): void {
    const push = this.push(offered)
      .then((answer) => this.listener?.(offered, answer))
      .catch((err: unknown) =>
        this.log.error({ msg: 'a push was not followed up; its ACK deadline will', err }),
      )
      .finally(() => this.pending.delete(push));
    this.pending.add(push);
  }

  private async push(offered: Offered): Promise<PushAnswer> {
    if (offered.endpoint === undefined)
      return { kind: 'failed', sent: false, detail: 'the agent has no endpoint' };
    if (isLapsed(offered.frame))
      return { kind: 'failed', sent: false, detail: 'the task had to have started before it could be sent' };
    const [offer = ''] = await this.writer.write(offered.agentKey, [offered.frame]);
    try {
      const answer = await request(offered.endpoint, {
        method: 'POST',
        dispatcher: this.dispatcher,
        headers: {
          'content-type': 'application/json',
          [PUSH_HEADER]: offered.deliveryId,
          ...(offered.frame.traceparent !== null && { traceparent: offered.frame.traceparent }),
        },
        body: `${offer.slice(0, -1)},"lease_id":${JSON.stringify(offered.leaseId)}}`,
        signal: AbortSignal.timeout(Math.max(1, Math.ceil(offered.ackUntil - performance.now()))),
      });
      return readAnswer(answer.statusCode, await answer.body.text());
    } catch (error) {
      return failure(error);
    }
  }
}

function readAnswer(status: number, text: string): PushAnswer {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const said = typeof body === 'object' && body !== null ? (body as { ack?: unknown; reason?: unknown }) : {};
  if (status >= 200 && status < 300 && said.ack === true) return { kind: 'acknowledged' };
  const reason = typeof said.reason === 'string' ? `: ${truncate(said.reason, 500)}` : '';
  if (said.ack === false || (status >= 400 && status < 500))
    return { kind: 'refused', detail: `HTTP ${status}${reason}` };
  if (status >= 300 && status < 400)
    return { kind: 'failed', sent: true, detail: `HTTP ${status}: redirects are not followed` };
  return { kind: 'failed', sent: true, detail: `HTTP ${status} without {"ack": true}${reason}` };
}

function failure(error: unknown): PushAnswer {
  // Before the request has left nothing can have begun.
  if (error instanceof ConnectError) return { kind: 'failed', sent: false, detail: error.message };
  const code = (error as { code?: unknown }).code;
  const detail =
    error instanceof errors.HeadersTimeoutError || (error as Error).name === 'TimeoutError'
      ? 'no answer in time'
      : `${typeof code === 'string' ? `${code} ` : ''}${(error as Error).message}`;
  return { kind: 'failed', sent: true, detail };
}
