import type { Answer, Api, Json } from './api.js';

export interface RawAgentOptions {
  capabilities?: (string | object)[];
  max_concurrency?: number;
  heartbeat_interval_ms?: number;
  lease_ttl_ms?: number;
  transport?: string;
  endpoint?: string;
  name?: string;
  tags?: string[];
  metadata?: object;
  features?: string[];
  dependencies?: object[];
}

/** What an agent of the tests declares unless told otherwise: `work`, and a lease that outlasts the test. */
export function declaration(id: string, options: RawAgentOptions): object {
  return { agent_id: id, capabilities: ['work'], heartbeat_interval_ms: 60_000, ...options };
}

/**
 * An agent that speaks REST by hand and does nothing by itself: it can be deaf, late, twice or wrong.
 * Nothing throws for what the centre answers.
 */
export class RawAgent {
  lease = '';
  private beating: NodeJS.Timeout | undefined;

  constructor(
    private readonly api: Api,
    readonly id: string,
    private readonly options: RawAgentOptions,
  ) {}

  /** Registers, again perhaps; the lease it gets is used from then on. */
  async register(): Promise<Answer> {
    const answer = await this.api.post('agent/register', declaration(this.id, this.options));
    if (answer.status !== 201) throw new Error(`not registered: ${JSON.stringify(answer.body)}`);
    this.lease = answer.body.lease_id as string;
    return answer;
  }

  /** A second process with the same id: this lease stays known to this object only. */
  async twin(): Promise<RawAgent> {
    const twin = new RawAgent(this.api, this.id, this.options);
    await twin.register();
    return twin;
  }

  heartbeat(running?: string[]): Promise<Answer> {
    return this.post('agent/lease', running === undefined ? {} : { running });
  }

  /** Heartbeats from now on, until `still`; where one dispatcher is away the next is asked at once. */
  beat(everyMs: number): void {
    this.beating = setInterval(() => void this.beatOnce(), everyMs);
  }

  private async beatOnce(): Promise<void> {
    for (const api of this.api.each()) {
      const body = { agent_id: this.id, lease_id: this.lease };
      if ((await api.post('agent/lease', body).catch(() => undefined)) !== undefined) return;
    }
  }

  /** No heartbeats any more. */
  still(): void {
    clearInterval(this.beating);
  }

  claim(max = 1, waitMs = 10_000): Promise<Answer> {
    return this.post('deliveries/claim', { max, wait_ms: waitMs });
  }

  /** Offers that come within the wait. */
  async offers(max = 1, waitMs = 10_000): Promise<Json[]> {
    return (await this.claim(max, waitMs)).body.deliveries as Json[];
  }

  /** The next offer; throws when none comes. */
  async offer(waitMs = 10_000): Promise<Json> {
    const [offer] = await this.offers(1, waitMs);
    if (offer === undefined) throw new Error(`no offer came to ${this.id} within ${waitMs} ms`);
    return offer;
  }

  ack(deliveryId: string): Promise<Answer> {
    return this.on(deliveryId, 'ack');
  }

  progress(deliveryId: string, body: object = {}): Promise<Answer> {
    return this.on(deliveryId, 'progress', body);
  }

  complete(deliveryId: string, outputs: unknown = null): Promise<Answer> {
    return this.on(deliveryId, 'complete', { outputs });
  }

  fail(deliveryId: string, body: object = {}): Promise<Answer> {
    return this.on(deliveryId, 'fail', body);
  }

  /** Takes the next offer and begins it. */
  async begin(waitMs?: number): Promise<Json> {
    const offer = await this.offer(waitMs);
    const { body } = await this.ack(offer.delivery_id as string);
    if (body.execute !== true) throw new Error(`not to be executed: ${JSON.stringify(body)}`);
    return offer;
  }

  /** Takes the next offer, begins it and ends it well. */
  async work(outputs: unknown = 'done'): Promise<Json> {
    const offer = await this.begin();
    const done = await this.complete(offer.delivery_id as string, outputs);
    if (done.status !== 200) throw new Error(`not completed: ${JSON.stringify(done.body)}`);
    return offer;
  }

  deregister(drainMs?: number): Promise<Answer> {
    return this.post('agent/deregister', drainMs === undefined ? {} : { drain_ms: drainMs });
  }

  /** A call that names the agent and its lease. */
  private post(path: string, body: object): Promise<Answer> {
    return this.api.post(path, { agent_id: this.id, lease_id: this.lease, ...body });
  }

  private on(deliveryId: string, verb: string, body: object = {}): Promise<Answer> {
    return this.api.call('POST', `/api/v1/deliveries/${deliveryId}/${verb}`, {
      lease_id: this.lease,
      ...body,
    });
  }
}
