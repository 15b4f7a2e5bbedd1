import { pause } from './backoff.js';
import { ReachApiError, ReachConnectionError } from './errors.js';
import { Http } from './http.js';
import { type LeaseRef, type Link, type LinkListener } from './link.js';
import {
  type CapacityReport,
  type LeaseAnswer,
  type Offer,
  type OperationAnswer,
  type RegisterAnswer,
  type RegisterRequest,
} from './wire.js';

export interface PollOptions {
  url: string;
  token: string | undefined;
  /** false: work is pushed to the agent, so nothing is claimed. */
  claims: boolean;
  callTimeoutMs: number;
  /** How long one claim waits for work. */
  claimWaitMs: number;
  /** The link closes itself after so long, between two claims, so that a session can be tried again. */
  retireAfterMs: number | undefined;
}

const MAX_CLAIM = 100;

/** Plain REST: works through every proxy, at the price of a request per step. */
export class PollLink implements Link {
  readonly kind: 'pull' | 'push';
  readonly maxInFlight = 4;
  private readonly http: Http;
  private readonly stop = new AbortController();
  private readonly bornAt = performance.now();
  private lease: LeaseRef | undefined;
  private wake: (() => void) | undefined;

  constructor(
    private readonly options: PollOptions,
    private readonly listener: LinkListener,
  ) {
    this.kind = options.claims ? 'pull' : 'push';
    // Not repeated here: the outbox and the connection know better what is still worth saying.
    this.http = new Http({
      url: options.url,
      token: options.token,
      timeoutMs: options.callTimeoutMs,
      retries: 0,
    });
  }

  async register(agent: RegisterRequest): Promise<RegisterAnswer> {
    const answer = await this.post<RegisterAnswer>('agent/register', JSON.stringify(agent));
    this.begin({ namespace: answer.namespace, agentId: answer.agent_id, leaseId: answer.lease_id });
    return answer;
  }

  async resume(lease: LeaseRef, running: string[]): Promise<LeaseAnswer> {
    const answer = await this.renew(lease, { running });
    this.begin(lease);
    return answer;
  }

  heartbeat(capacity: CapacityReport, running: string[]): Promise<LeaseAnswer> {
    return this.renew(this.held(), { capacity, running });
  }

  async operations(operations: readonly string[]): Promise<OperationAnswer[]> {
    const lease = JSON.stringify(this.held().leaseId);
    const body = `{"lease_id":${lease},"operations":[${operations.join(',')}]}`;
    const answer = await this.post<{ answers: OperationAnswer[] }>('deliveries/batch', body);
    return answer.answers;
  }

  async deregister(drainMs: number): Promise<void> {
    const lease = this.held();
    const body = {
      namespace: lease.namespace,
      agent_id: lease.agentId,
      lease_id: lease.leaseId,
      drain_ms: drainMs,
    };
    await this.post('agent/deregister', JSON.stringify(body));
  }

  slotFreed(): void {
    this.wake?.();
  }

  close(): void {
    this.stop.abort();
    this.wake?.();
  }

  private renew(
    lease: LeaseRef,
    more: { capacity?: CapacityReport; running: string[] },
  ): Promise<LeaseAnswer> {
    const body = { namespace: lease.namespace, agent_id: lease.agentId, lease_id: lease.leaseId, ...more };
    return this.post('agent/lease', JSON.stringify(body));
  }

  private post<T>(path: string, json: string): Promise<T> {
    return this.http
      .json<T>({ method: 'POST', path, json, signal: this.stop.signal })
      .catch((error: unknown) => {
        if (error instanceof ReachApiError || error instanceof ReachConnectionError) throw error;
        throw new ReachConnectionError(this.options.url, 'the link is closed', error);
      });
  }

  private held(): LeaseRef {
    if (!this.lease) throw new ReachConnectionError(this.options.url, 'not registered yet');
    return this.lease;
  }

  private begin(lease: LeaseRef): void {
    const first = this.lease === undefined;
    this.lease = lease;
    if (first && this.options.claims) void this.claimLoop();
  }

  private async claimLoop(): Promise<void> {
    const closed = () => this.stop.signal.aborted;
    while (!closed()) {
      if (
        this.options.retireAfterMs !== undefined &&
        performance.now() - this.bornAt > this.options.retireAfterMs
      ) {
        this.breakOff('time to try a session again');
        return;
      }
      const free = Math.min(this.listener.freeSlots(), MAX_CLAIM);
      if (free <= 0) {
        await this.slot();
        continue;
      }
      try {
        const offers = await this.claim(free);
        if (!closed() && offers.length > 0) this.listener.offers(offers);
      } catch (error) {
        if (!closed()) await this.claimFailed(error);
      }
    }
  }

  private async claim(max: number): Promise<Offer[]> {
    const lease = this.held();
    const answer = await this.http.json<{ deliveries: Offer[] }>({
      method: 'POST',
      path: 'deliveries/claim',
      body: {
        namespace: lease.namespace,
        agent_id: lease.agentId,
        lease_id: lease.leaseId,
        max,
        wait_ms: this.options.claimWaitMs,
      },
      timeoutMs: this.options.claimWaitMs + this.options.callTimeoutMs,
      signal: this.stop.signal,
    });
    return answer.deliveries;
  }

  private async claimFailed(error: unknown): Promise<void> {
    if (!(error instanceof ReachApiError)) return this.breakOff(String(error));
    if (error.code.startsWith('REACH_LEASE_')) {
      this.close();
      return this.listener.leaseRefused(error.code);
    }
    if (!error.retryable) return this.breakOff(error.message);
    await pause(error.retryAfterMs ?? 1000, this.stop.signal);
  }

  private breakOff(reason: string): void {
    this.close();
    this.listener.closed(reason, false);
  }

  private slot(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = undefined;
        resolve();
      };
    });
  }
}
