import type { FastifyReply } from 'fastify';

/** An answer of `text/event-stream` that its sender writes block by block. */
export class EventStream {
  private isGone = false;

  private constructor(
    private readonly out: FastifyReply['raw'],
    private readonly change: ChangeSignal,
  ) {
    out.once('close', () => {
      this.isGone = true;
      this.change.raise();
    });
  }

  /**
   * Takes the answer over and begins it; nothing can be thrown to the caller from here on.
   * @param change what may have been raised before already
   */
  static open(reply: FastifyReply, change = new ChangeSignal()): EventStream {
    reply.hijack();
    const stream = new EventStream(reply.raw, change);
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    return stream;
  }

  /** The reader hung up. */
  get gone(): boolean {
    return this.isGone;
  }

  /** Writes blocks; resolves when the reader has room for more, or is gone. */
  async write(text: string): Promise<void> {
    if (this.isGone || this.out.write(text)) return;
    await new Promise<void>((resolve) => {
      const settle = () => {
        this.out.off('drain', settle).off('close', settle);
        resolve();
      };
      this.out.on('drain', settle).on('close', settle);
    });
  }

  /** Something changed that the sender may have to tell. */
  wake(): void {
    this.change.raise();
  }

  /** Resolves at the next `wake` or hang-up, at once if there was one since the last call, or after `ms`. */
  next(ms: number): Promise<void> {
    return this.change.next(ms);
  }

  end(): void {
    this.out.end();
  }
}

/** Remembers that something changed until somebody asks. */
export class ChangeSignal {
  private raised = false;
  private arm: (() => void) | undefined;

  raise(): void {
    this.raised = true;
    this.arm?.();
  }

  /** Resolves at the next change, at once if there was one since the last call, or after `ms`. */
  async next(ms: number): Promise<void> {
    if (!this.raised) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.arm = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.arm = undefined;
    }
    this.raised = false;
  }
}
