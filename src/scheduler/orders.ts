import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { failpoint } from '../platform/lifecycle/failpoints.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { ORDER_QUEUE, type OrderQueue } from '../platform/queue/order-queue.js';
import { DeadlineAlarm } from './deadline-alarm.js';
import { Lanes } from './lanes.js';

/**
 * Orders to place a lane, through BullMQ, so that any replica can do it. A lane that this replica is placing
 * at the moment needs no order: its pass just looks once more. Orders that meet while one is being sent
 * share the next call.
 */
@Injectable()
export class Orders implements OnApplicationBootstrap {
  private readonly log = new Logger(Orders.name);
  private pending = new Set<string>();
  private sending = false;

  constructor(
    @Inject(ORDER_QUEUE) private readonly queue: OrderQueue,
    private readonly lanes: Lanes,
    private readonly alarm: DeadlineAlarm,
    shutdown: Shutdown,
  ) {
    shutdown.on('intake', 'order queue', () => this.queue.pause());
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.queue.consume(async (lane) => {
      await this.lanes.place(lane);
    });
  }

  /** The lane has a task to place. Returns at once; a lost order is made up for by the backlog sweep. */
  place(lane: string): void {
    if (this.lanes.isPlacing(lane)) {
      this.lanes.wake(lane);
      return;
    }
    this.pending.add(lane);
    if (!this.sending) {
      this.sending = true;
      setImmediate(() => void this.send());
    }
  }

  /**
   * Places lanes that were found to have a backlog. Where that places something although an order should have done
   * so by now, the order may be stuck, keeping later ones away: its remains are cleared.
   */
  async placeOverdue(lanes: readonly string[]): Promise<void> {
    const placed = await Promise.all(lanes.map((lane) => this.lanes.place(lane)));
    const overdue = lanes.filter((_, i) => (placed[i] ?? 0) > 0);
    if (overdue.length > 0) await this.queue.restore(overdue);
  }

  /** A deadline was set that passes in `inMs`. */
  deadline(inMs: number): void {
    this.alarm.set(inMs);
  }

  private async send(): Promise<void> {
    while (this.pending.size > 0) {
      const lanes = [...this.pending];
      this.pending = new Set();
      try {
        await this.queue.order(lanes);
        failpoint('order_after_add');
      } catch (err) {
        this.log.debug({ msg: 'orders could not be queued; placing here instead', lanes: lanes.length, err });
        for (const lane of lanes) this.lanes.wake(lane);
      }
    }
    this.sending = false;
  }
}
