import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { ProbeFailure } from './probe-failure.js';

/** More than any handshake and answer of a database, certificates included. */
const MOST_BYTES = 128 * 1024;

/** Runs listeners of `stream`; what they throw destroys it. */
export function shielded(stream: Duplex, emit: () => boolean): boolean {
  try {
    return emit();
  } catch (error) {
    const failure = `the answer is not what a server of this kind says (${(error as Error).message})`;
    stream.destroy(new ProbeFailure('wrong_answer', failure));
    return true;
  }
}

/**
 * A connected socket for a driver that would trust the server: it passes on `MOST_BYTES` and then fails, so
 * that a server which announces a gigabyte fills nobody's memory, and it fails when nothing comes for
 * `firstByteMs`. A stream of its own and not a socket, so that bytes are counted under TLS as well.
 */
export class MeteredStream extends Duplex {
  private seen = 0;
  private readonly firstByte: NodeJS.Timeout;

  constructor(
    private readonly socket: Socket,
    firstByteMs: number,
  ) {
    super({ highWaterMark: 16 * 1024 });
    this.firstByte = setTimeout(
      () =>
        this.destroy(
          new ProbeFailure('first_byte_timeout', `connected, but nothing came in ${firstByteMs} ms`),
        ),
      firstByteMs,
    );
    socket.on('data', (chunk: Buffer) => this.received(chunk));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    // A driver that has gone by the time of an error must not end the process.
    this.on('error', () => undefined);
  }

  /**
   * The next `count` bytes, for what is said before a driver takes over.
   * @throws what the stream was destroyed with; ProbeFailure `closed`
   */
  async next(count: number): Promise<Buffer> {
    for (;;) {
      const chunk = this.read(count) as Buffer | null;
      if (chunk !== null && chunk.length >= count) return chunk;
      await this.more();
    }
  }

  /**
   * The next line without its end.
   * @param limit most bytes of it
   * @throws what the stream was destroyed with; ProbeFailure `too_large` or `closed`
   */
  async line(limit: number): Promise<string> {
    let held = Buffer.alloc(0);
    for (;;) {
      const chunk = this.read() as Buffer | null;
      if (chunk === null) {
        await this.more();
        continue;
      }
      held = Buffer.concat([held, chunk]);
      const end = held.indexOf('\n');
      if (end >= 0) {
        const rest = held.subarray(end + 1);
        if (rest.length > 0) this.unshift(rest);
        return held.subarray(0, end).toString('utf8').trimEnd();
      }
      if (held.length > limit) throw new ProbeFailure('too_large', `a line has more than ${limit} bytes`);
    }
  }

  /** Resolves when there is more to read. */
  private more(): Promise<void> {
    return new Promise((resolve, reject) => {
      const over = () => reject(this.errored ?? new ProbeFailure('closed', 'the server hung up'));
      if (this.destroyed || this.readableEnded) return over();
      const listeners: [string, () => void][] = [
        ['readable', resolve],
        ['end', over],
        ['close', over],
      ];
      const settle = (): void => {
        for (const [event, listener] of listeners) this.off(event, listener).off(event, settle);
      };
      for (const [event, listener] of listeners) this.once(event, listener).once(event, settle);
    });
  }

  /** What a parser throws at bytes that it did not expect fails the probe, not the process. */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event !== 'data') return super.emit(event, ...args);
    return shielded(this, () => super.emit(event, ...args));
  }

  /** Always connected already; drivers wait for this when they think otherwise. */
  get connecting(): boolean {
    return false;
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.socket.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.firstByte);
    this.socket.destroy();
    done(error);
  }

  private received(chunk: Buffer): void {
    clearTimeout(this.firstByte);
    this.seen += chunk.length;
    if (this.seen > MOST_BYTES)
      this.destroy(new ProbeFailure('too_large', `more than ${MOST_BYTES} bytes came`));
    else if (!this.push(chunk)) this.socket.pause();
  }

  /* What drivers call on a socket. Probes are short: there is nothing to keep alive, and limits are ours. */

  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
