import { randomUUID } from 'node:crypto';
import { fullJitterMs, pause } from './backoff.js';
import { ReachApiError } from './errors.js';
import { type LeaseRef, type Link, type LinkListener } from './link.js';
import { type CapacityReport, type LeaseAnswer, type RegisterAnswer, type RegisterRequest } from './wire.js';

/** What the agent does when its connection changes. */
export interface ConnectionListener {
  /** A lease is held and the link may be used. `resumed`: it is the lease from before the break. */
  connected(link: Link, resumed: boolean): void;
  disconnected(reason: string, frameTooLarge: boolean): void;
  registered(answer: RegisterAnswer): void;
  renewed(answer: LeaseAnswer): void;
  /** The lease has ended: its running work is no longer the agent's. */
  leaseLost(code: string): void;
  /** The connection ends for good. */
  ended(why: 'superseded' | 'drained'): void;
  /** The centre refuses the registration; it is tried again, more slowly. */
  refused(error: ReachApiError): void;
}

export interface ConnectionDeps {
  /** Opens the link to try in this attempt; `attempt` rises with each failure. */
  open: (listener: LinkListener, attempt: number) => Promise<Link>;
  registration: () => RegisterRequest;
  running: () => string[];
  inbound: Pick<LinkListener, 'offers' | 'stale' | 'drain' | 'probe' | 'freeSlots'>;
  /** Whether pushes, and so probes, find somebody who answers them. */
  answersPushes: () => boolean;
  listener: ConnectionListener;
}

const BACKOFF_BASE_MS = 100;
/** Well below the 5 s that an offer waits for its ACK: what was offered just before the centre came back is taken. */
const BACKOFF_CAP_MS = 2000;
/** A connection that lasted so long was a good one; after a shorter one the backoff goes on rising. */
const STEADY_AFTER_MS = 1000;

/**
 * Keeps one lease alive over links that come and go: opens, registers or resumes, waits for the break,
 * backs off with full jitter, and again. Ends for good when a newer process took over the agent id.
 */
export class Connection {
  private link: Link | undefined;
  private lease: LeaseRef | undefined;
  private leaseKind: Link['kind'] | undefined;
  private breakLink: ((reason: string) => void) | undefined;
  private readonly halt = new AbortController();
  private draining = false;
  /** The last lease that was held; a registration may replace it, but not that of another process. */
  private lastLeaseId: string | undefined;
  /** The id for the next lease. It stays until there is an answer: the same registration sent again is known by it. */
  private nextLeaseId = randomUUID();

  /** @param rejectFirst told when the very first registration is refused in a way that trying again cannot cure */
  constructor(
    private readonly deps: ConnectionDeps,
    private readonly rejectFirst: (error: ReachApiError) => void,
  ) {}

  get connected(): boolean {
    return this.link !== undefined;
  }

  private get halted(): boolean {
    return this.halt.signal.aborted;
  }

  get leaseId(): string | undefined {
    return this.lease?.leaseId;
  }

  /** Runs until `stop`, or until the agent is superseded or drained for good. */
  async run(): Promise<void> {
    for (let failures = 0; !this.halted;) {
      const lasted = await this.attempt(failures);
      failures = lasted ? 0 : failures + 1;
      if (!this.halted)
        await pause(fullJitterMs(failures, BACKOFF_BASE_MS, BACKOFF_CAP_MS, Math.random()), this.halt.signal);
    }
  }

  /** Renews the lease; does nothing while there is no connection. Never rejects. */
  async heartbeat(capacity: CapacityReport): Promise<boolean> {
    const link = this.link;
    if (!link) return false;
    try {
      const answer = await link.heartbeat(capacity, this.deps.running());
      this.deps.listener.renewed(answer);
      if (answer.drain) this.drained();
      return true;
    } catch (error) {
      if (error instanceof ReachApiError) {
        if (this.isLeaseEnd(error.code)) this.refuseLease(error.code);
      } else if (link === this.link) this.breakLink?.(String(error));
      return false;
    }
  }

  /** The centre no longer honours the lease. */
  refuseLease(code: string): void {
    if (!this.lease || this.halted) return;
    this.lease = undefined;
    if (code === 'REACH_LEASE_SUPERSEDED') return this.end('superseded');
    this.deps.listener.leaseLost(code);
    // A drained agent stays away: registering again would undo the drain.
    if (this.draining) return this.end('drained');
    this.breakLink?.(code);
  }

  /** Says goodbye; the lease stays until the drain time is over. Never rejects. */
  async deregister(drainMs: number): Promise<void> {
    await this.link?.deregister(drainMs).catch(() => undefined);
  }

  slotFreed(): void {
    this.link?.slotFreed();
  }

  stop(): void {
    this.halt.abort();
    this.breakLink?.('stopped');
  }

  /** @returns whether a lease was held for a while, so that the next attempt need not wait long */
  private async attempt(failures: number): Promise<boolean> {
    let breakLink: (reason: string, frameTooLarge?: boolean) => void = () => undefined;
    const broken = new Promise<{ reason: string; frameTooLarge: boolean }>((resolve) => {
      breakLink = (reason, frameTooLarge = false) => resolve({ reason, frameTooLarge });
    });
    let link: Link;
    try {
      link = await this.deps.open(this.linkListener(breakLink), failures);
    } catch (error) {
      this.openFailed(error);
      return false;
    }
    this.breakLink = breakLink;
    try {
      if (this.halted) return false;
      const resumed = await this.establish(link);
      if (this.halted) {
        // Stopped while the answer was on its way: do not leave a lease behind that nobody renews.
        if (this.lease) await link.deregister(0).catch(() => undefined);
        return false;
      }
      this.link = link;
      this.deps.listener.connected(link, resumed);
      const since = performance.now();
      const { reason, frameTooLarge } = await broken;
      this.link = undefined;
      this.deps.listener.disconnected(reason, frameTooLarge);
      return performance.now() - since > STEADY_AFTER_MS;
    } catch (error) {
      this.openFailed(error);
      return false;
    } finally {
      this.breakLink = undefined;
      link.close();
    }
  }

  private linkListener(breakLink: (reason: string, frameTooLarge: boolean) => void): LinkListener {
    return {
      ...this.deps.inbound,
      drain: () => this.drained(),
      leaseRefused: (code) => this.refuseLease(code),
      closed: breakLink,
    };
  }

  private drained(): void {
    this.draining = true;
    this.deps.inbound.drain();
  }

  private async establish(link: Link): Promise<boolean> {
    const running = this.deps.running();
    // An idle agent whose way of connecting changed registers anew: the centre delivers by the lease's way.
    const mayResume =
      this.lease !== undefined && (this.leaseKind === link.kind || running.length > 0 || this.draining);
    if (this.lease && mayResume) {
      try {
        const answer = await link.resume(this.lease, running);
        this.deps.listener.renewed(answer);
        if (answer.drain) this.drained();
        return true;
      } catch (error) {
        if (!(error instanceof ReachApiError) || !this.isLeaseEnd(error.code)) throw error;
        this.refuseLease(error.code);
        if (this.halted) return false;
      }
    }
    await this.register(link);
    return false;
  }

  private async register(link: Link): Promise<void> {
    let answer: RegisterAnswer;
    try {
      answer = await link.register(this.registrationOver(link));
    } catch (error) {
      // This process was away for so long that another one has the agent id by now.
      if (error instanceof ReachApiError && error.code === 'REACH_LEASE_SUPERSEDED') this.end('superseded');
      throw error;
    }
    this.lease = { namespace: answer.namespace, agentId: answer.agent_id, leaseId: answer.lease_id };
    this.leaseKind = link.kind;
    this.lastLeaseId = answer.lease_id;
    this.nextLeaseId = randomUUID();
    if (!this.halted) this.deps.listener.registered(answer);
  }

  private registrationOver(link: Link): RegisterRequest {
    const echoes = link.kind === 'session' || (link.kind === 'push' && this.deps.answersPushes());
    return {
      ...this.deps.registration(),
      transport: link.kind,
      lease_id: this.nextLeaseId,
      ...(this.lastLeaseId !== undefined && { replaces_lease_id: this.lastLeaseId }),
      ...(echoes && { features: ['echo'] }),
    };
  }

  private isLeaseEnd(code: string): boolean {
    return code === 'REACH_LEASE_EXPIRED' || code === 'REACH_LEASE_SUPERSEDED' || code === 'REACH_NOT_FOUND';
  }

  private openFailed(error: unknown): void {
    if (!(error instanceof ReachApiError) || error.retryable) return;
    if (this.halted) return;
    if (this.lastLeaseId !== undefined) this.deps.listener.refused(error);
    else this.rejectFirst(error);
  }

  private end(why: 'superseded' | 'drained'): void {
    this.deps.listener.ended(why);
    this.stop();
  }
}
