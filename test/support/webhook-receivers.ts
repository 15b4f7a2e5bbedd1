import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Json } from './api.js';

const SECRET = Buffer.from('a secret of twenty-four');

/** A secret as it is set. */
export const WEBHOOK_SECRET = `whsec_${SECRET.toString('base64')}`;
/** Every form of it, none of which may show up anywhere. */
export const WEBHOOK_SECRETS = [WEBHOOK_SECRET, SECRET.toString(), SECRET.toString('base64')];

/** What a receiver was told. */
export interface WebhookCall {
  headers: IncomingHttpHeaders;
  body: string;
  event: Json;
}

/** The signature that a call must have (Standard Webhooks). */
export function signatureOf({ headers, body }: WebhookCall): string {
  const content = `${headers['webhook-id'] as string}.${headers['webhook-timestamp'] as string}.${body}`;
  return `v1,${createHmac('sha256', SECRET).update(content).digest('base64')}`;
}

/** Servers that are told things by webhook. They live as long as the case that starts them. */
export class WebhookReceivers {
  private readonly servers: Server[] = [];

  /** Of the `describe` that this is called in. */
  constructor() {
    afterEach(() => {
      for (const server of this.servers.splice(0)) {
        server.closeAllConnections();
        server.close();
      }
    });
  }

  /** One that answers as it likes; its URL. */
  async listen(answer: RequestListener): Promise<string> {
    const server = createServer(answer).listen(0, '127.0.0.1');
    this.servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/told?x=1`;
  }

  /** One that keeps what it is told, and answers with the next of `statuses`, then with 204. */
  async start(...statuses: number[]): Promise<{ url: string; calls: WebhookCall[] }> {
    const calls: WebhookCall[] = [];
    const url = await this.listen((request, response) => {
      void text(request).then((body) => {
        calls.push({ headers: request.headers, body, event: JSON.parse(body) });
        response.writeHead(statuses.shift() ?? 204).end();
      });
    });
    return { url, calls };
  }
}
