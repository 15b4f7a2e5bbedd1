import { Injectable, Logger } from '@nestjs/common';
import type { Transport } from '../../registry/agent-row.js';
import type { ReachEntry } from '../../registry/reach-table.js';
import { Inbox } from './inbox.js';
import { OfferWriter } from './offer-writer.js';
import { isLapsed, type Offered } from './offered.js';
import { PushTransport } from './push.js';
import { type AgentSink, Sessions } from './sessions.js';

/** Sends committed offers on their way: session here, inbox for everyone who fetches, or push. */
@Injectable()
export class Offers {
  private readonly log = new Logger(Offers.name);

  constructor(
    private readonly sessions: Sessions,
    private readonly inbox: Inbox,
    private readonly push: PushTransport,
    private readonly writer: OfferWriter,
  ) {}

  /** The way an offer to this agent would go now. */
  transportFor(entry: ReachEntry): Transport {
    if (entry.transport === 'push') return 'push';
    return this.sessions.get(entry.key)?.leaseId === entry.leaseId ? 'session' : 'pull';
  }

  /** Never throws: an offer that does not arrive meets its ACK deadline. */
  deliver(offered: readonly Offered[]): void {
    const bySession = new Map<AgentSink, Offered[]>();
    const fetched: Offered[] = [];
    for (const offer of offered) {
      // A push says itself that it was not sent: of others that were not acknowledged the sweep knows that nothing began.
      if (offer.transport !== 'push' && isLapsed(offer.frame)) continue;
      const session = this.sessions.get(offer.agentKey);
      if (offer.transport === 'push') this.push.deliver(offer);
      else if (session?.leaseId !== offer.leaseId) fetched.push(offer);
      else {
        const group = bySession.get(session);
        if (group === undefined) bySession.set(session, [offer]);
        else group.push(offer);
      }
    }
    for (const [session, group] of bySession)
      this.send(session, group).catch((err: unknown) => this.undelivered('sessions', group, err));
    if (fetched.length > 0)
      this.inbox.put(fetched).catch((err: unknown) => this.undelivered('inboxes', fetched, err));
  }

  /** To the session of their lease, though the agent may have another one by the time they are written. */
  private async send(session: AgentSink, offers: readonly Offered[]): Promise<void> {
    const key = offers[0]?.agentKey ?? '';
    const frames = offers.map((o) => o.frame);
    session.offer(await this.writer.write(key, frames));
  }

  private undelivered(where: string, offers: readonly Offered[], err: unknown): void {
    this.log.warn({
      msg: `offers did not reach their ${where}; they will time out`,
      offers: offers.length,
      err,
    });
  }
}
