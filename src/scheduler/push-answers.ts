import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { parseDeliveryId } from '../core/task-state.js';
import { Closer } from './closer.js';
import { Deliveries, openOf } from './deliveries.js';
import { DeliveryStore } from './delivery.store.js';
import type { Offered } from './transports/offered.js';
import { PushTransport, type PushAnswer } from './transports/push.js';

/** Turns the answers of pushed agents into ACKs and failed attempts. */
@Injectable()
export class PushAnswers implements OnApplicationBootstrap {
  constructor(
    private readonly push: PushTransport,
    private readonly deliveries: Deliveries,
    private readonly store: DeliveryStore,
    private readonly closer: Closer,
  ) {}

  onApplicationBootstrap(): void {
    this.push.connect((offered, answer) => this.take(offered, answer));
  }

  private async take(offered: Offered, answer: PushAnswer): Promise<void> {
    if (answer.kind === 'acknowledged') {
      await this.deliveries.ack(offered.deliveryId, offered.leaseId);
      return;
    }
    const ref = { ...parseDeliveryId(offered.deliveryId), leaseId: offered.leaseId };
    const now = await this.store.inspect(ref);
    if (now?.state !== 'offered' || now.fence !== ref.fence) return;
    await this.closer.fail(openOf(ref, now, 'offered'), {
      kind: 'push_failed',
      agentId: now.agent_id ?? '',
      reason: answer.kind,
      sent: answer.kind === 'failed' && answer.sent,
      detail: answer.detail,
    });
  }
}
