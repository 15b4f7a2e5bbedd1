import { type IncomingMessage, type ServerResponse } from 'node:http';
import { REACHABLE, type ProbeAnswer } from './probe-tool.js';
import { type Offer } from './wire.js';

/** Answers the centre's pushes; fits `http.createServer` and Express. */
export type PushHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface PushDeps {
  leaseId: () => string | undefined;
  /** Runs the probe tool; never rejects. */
  probe: () => Promise<ProbeAnswer>;
  take: (offer: Offer) => 'taken' | 'busy' | 'draining';
}

const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * The receiving side of transport `push`: `{"ack": true}` takes the delivery, 429 says that the agent is full,
 * 503 that it stops, 409 that the push was meant for an earlier process of this agent. Echoes of the prober are
 * answered too.
 */
export function pushHandler(deps: PushDeps): PushHandler {
  return (request, response) => {
    readBody(request)
      .then(async (body) => answer(response, ...(await decide(deps, body))))
      .catch((error: unknown) => answer(response, 400, { ack: false, reason: String(error) }));
  };
}

type Answer = [status: number, body: { ack: boolean; reason?: string } | ProbeAnswer];

async function decide(deps: PushDeps, body: string): Promise<Answer> {
  const offer = JSON.parse(body) as Offer & { type?: string; deep?: boolean; lease_id?: string };
  if (offer.type === 'echo') return [200, offer.deep === true ? await deps.probe() : REACHABLE];
  if (typeof offer.delivery_id !== 'string') return [400, { ack: false, reason: 'not a delivery' }];
  const lease = deps.leaseId();
  if (lease === undefined || (offer.lease_id !== undefined && offer.lease_id !== lease))
    return [409, { ack: false, reason: 'the delivery is for another lease' }];
  switch (deps.take(offer)) {
    case 'taken':
      return [200, { ack: true }];
    case 'busy':
      return [429, { ack: false, reason: 'at max_concurrency' }];
    case 'draining':
      return [503, { ack: false, reason: 'the agent is stopping' }];
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`the body is larger than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function answer(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
