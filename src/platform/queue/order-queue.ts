/**
 * Orders to place a lane. An order carries no work, only "look at this lane": the work lies in Postgres, so
 * an order may be lost or come twice, and the sweeps make up for both.
 *
 * In this file and its neighbours, `job` means BullMQ's job, which carries one order.
 */
export interface OrderQueue {
  /**
   * Adds one order for each lane. While an order of the lane waits, another one changes nothing; while one
   * runs, exactly one more runs after it. So a handler of the lane always begins after `order` was called.
   * @throws QueueUnavailable within 2 s; the orders may have been added all the same
   */
  order(lanes: readonly string[]): Promise<void>;

  /**
   * Like `order`, for lanes that wait suspiciously long. When a part of an order was lost, so that it will
   * never run and yet keeps others away, its remains are removed first.
   * @throws QueueUnavailable within 2 s
   */
  restore(lanes: readonly string[]): Promise<void>;

  /**
   * Starts consuming. The handler places the lane and resolves when the pass is over; the same lane is never
   * handled twice at once, except after a process was taken for dead. What a handler throws is reported, and
   * the order counts as done.
   */
  consume(handler: OrderHandler): Promise<void>;

  /**
   * Takes no new orders, for good, and waits for the passes under way. Those that outlast the drain time
   * give their orders back, so that another replica may repeat the pass.
   */
  pause(): Promise<void>;

  /** Pauses, then lets go of all connections. Repeating it is harmless. */
  close(): Promise<void>;
}

export type OrderHandler = (lane: string) => Promise<void>;

/** Nest token of the process's `OrderQueue`. */
export const ORDER_QUEUE = Symbol('ORDER_QUEUE');

/** The queue is out of reach or did not answer in time. */
export class QueueUnavailable extends Error {
  override readonly name = 'QueueUnavailable';

  constructor(reason: string, options?: ErrorOptions) {
    super(`order queue unavailable: ${reason}`, options);
  }
}
