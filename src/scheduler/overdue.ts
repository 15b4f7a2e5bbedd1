import { Inject, Injectable } from '@nestjs/common';
import type { Incident } from '../core/attribution.js';
import { COORDINATOR, type Coordinator } from '../platform/coordination/coordinator.js';
import { agentKey } from '../registry/agent-row.js';
import { Hearing } from '../registry/hearing.js';
import { ReachTable } from '../registry/reach-table.js';
import { Closer, type OpenDelivery } from './closer.js';
import { heldDelivery } from './held-delivery.js';
import type { DueRow } from './sweep.store.js';

/**
 * Judges deliveries whose deadline passed. An agent is blamed for a silence only where it could have been heard:
 * after an outage of ours offers go back uncharged, and what runs gets the time to report.
 */
@Injectable()
export class Overdue {
  constructor(
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly closer: Closer,
    private readonly table: ReachTable,
    private readonly hearing: Hearing,
  ) {}

  /** For how many ms agents have been able to fetch offers and to report. */
  heardMs(): number {
    // Inboxes are out of reach while the coordinator is.
    return this.coordinator.available() ? this.hearing.unbrokenMs() : 0;
  }

  /**
   * Ends a delivery whose deadline passed.
   * @param heardMs what `heardMs` said before the row was read
   */
  async end(row: DueRow, heardMs: number): Promise<void> {
    const delivery = deliveryOf(row);
    if (delivery === undefined) return;
    // The ACK may have been on its way while we were away. A push may have begun although its answer got lost.
    const unheard = row.state === 'offered' && row.transport !== 'push' && heardMs < row.ack_timeout_ms;
    if (unheard) await this.closer.release(delivery, 'DELIVERY_SUPERSEDED');
    else await this.closer.fail(delivery, this.incident(row, delivery.agentId));
  }

  /** Takes an offer back that no agent can have begun. @returns whether it was open still */
  async release(row: DueRow): Promise<boolean> {
    const delivery = deliveryOf(row);
    return delivery !== undefined && this.closer.release(delivery, 'TASK_EXPIRED');
  }

  private incident(row: DueRow, agentId: string): Incident {
    if (row.state === 'offered') {
      const agent = this.table.get(agentKey(row.namespace, agentId));
      return {
        kind: 'ack_timeout',
        agentId,
        transport: row.transport ?? 'pull',
        ackTimeoutMs: row.ack_timeout_ms,
        agentState: agent?.state ?? 'unknown',
      };
    }
    return {
      kind: 'execution_timeout',
      agentId,
      executionTimeoutMs: row.execution_timeout_ms,
      ...(row.over && { over: true as const }),
      ...(row.progress?.note !== undefined && { progressNote: row.progress.note }),
    };
  }
}

function deliveryOf(row: DueRow): OpenDelivery | undefined {
  const delivery = heldDelivery(row);
  return delivery && { ...delivery, over: row.over };
}
