import { Injectable, Logger } from '@nestjs/common';
import type { Transport } from '../../registry/agent-row.js';
import type { ReachEntry } from '../../registry/reach-table.js';
import { Inbox } from './inbox.js';
import { OfferWriter } from './offer-writer.js';
import { isLapsed, type Offered } from './offered.js';
import { PushTransport } from './push.js';
import { Sessions } from './sessions.js';

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
    const bySession = new Map<string, Offered[]>();
    const fetched: Offered[] = [];
    for (const offer of offered) {
      // A push says itself that it was not sent: of others that were not acknowledged the sweep knows that nothing began.
      if (offer.transport !== 'push' && isLapsed(offer.frame)) continue;
      if (offer.transport === 'push') this.push.deliver(offer);
      else if (this.sessions.get(offer.agentKey)?.leaseId !== offer.leaseId) fetched.push(offer);
      else {
        const group = bySession.get(offer.agentKey);
        if (group === undefined) bySession.set(offer.agentKey, [offer]);
        else group.push(offer);
      }
    }
    for (const [key, group] of bySession) void this.send(key, group);
    if (fetched.length > 0)
      this.inbox.put(fetched).catch((err: unknown) => {
        this.log.warn({
          msg: 'offers did not reach their inboxes; they will time out',
          offers: fetched.length,
          err,
        });
      });
  }

  private async send(agentKey: string, group: readonly Offered[]): Promise<void> {
    try {
      const offers = await this.writer.write(
        agentKey,
        group.map((o) => o.frame),
      );
      this.sessions.get(agentKey)?.offer(offers);
    } catch (err) {
      this.log.warn({
        msg: 'offers did not get their tokens; they will time out',
        offers: group.length,
        err,
      });
    }
  }
}
