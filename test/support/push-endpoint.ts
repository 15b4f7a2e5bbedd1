import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Api, Json } from './api.js';

/** A service that work is pushed to: it takes every offer, and reports `result` for it. */
export class PushEndpoint {
  private readonly server: Server;
  /** What was pushed to it, in order. */
  readonly offers: Json[] = [];

  private constructor(
    private readonly api: Api,
    private readonly result: unknown,
  ) {
    this.server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => (text += String(chunk)));
      request.on('end', () => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"ack":true}', () => void this.work(text));
      });
    });
  }

  static async start(api: Api, result: unknown): Promise<PushEndpoint> {
    const endpoint = new PushEndpoint(api, result);
    endpoint.server.listen(0, '127.0.0.1');
    await once(endpoint.server, 'listening');
    return endpoint;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async work(text: string): Promise<void> {
    if (text === '') return;
    const offer = JSON.parse(text);
    if (offer.delivery_id === undefined) return;
    this.offers.push(offer);
    const body = { lease_id: offer.lease_id as string, outputs: this.result };
    for (let tries = 0; tries < 50; tries++) {
      // The push is not noted as acknowledged before its answer was read.
      const { status } = await this.api.call(
        'POST',
        `/api/v1/deliveries/${offer.delivery_id}/complete`,
        body,
      );
      if (status !== 409) return;
    }
  }
}
