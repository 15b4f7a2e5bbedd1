import type { FastifyReply } from 'fastify';

/**
 * Whether the caller of a long poll still waits. What an AbortSignal would do, at a tenth of its cost: several are
 * made a task where agents poll (4 % of the dispatcher's time).
 */
export class Caller {
  private left = false;
  private listener: (() => void) | undefined;

  /** @param reply the answer that is being waited for */
  static of(reply: FastifyReply): Caller {
    const caller = new Caller();
    reply.raw.once('close', () => caller.leave());
    return caller;
  }

  /** True once the answer was sent or the caller hung up. */
  get gone(): boolean {
    return this.left;
  }

  leave(): void {
    this.left = true;
    this.listener?.();
  }

  /** Calls `listener` when the caller leaves; one listener at a time, undefined to stop. */
  onLeave(listener: (() => void) | undefined): void {
    this.listener = listener;
  }
}
