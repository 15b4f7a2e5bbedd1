import { once } from 'node:events';
import WebSocket from 'ws';
import type { Api, Json } from './api.js';
import { declaration, type RawAgentOptions } from './raw-agent.js';

const FRAME_WITHIN_MS = 30_000;

/** A WebSocket session by hand: it sends what it is told and keeps what it hears. */
export class RawSession {
  private ref = 0;
  private readonly unread: Json[] = [];
  private wake: () => void = () => undefined;
  lease = '';
  /** Resolves with the close code. */
  readonly closed: Promise<number>;

  private constructor(
    readonly id: string,
    private readonly namespace: string,
    readonly socket: WebSocket,
  ) {
    socket.on('message', (data: Buffer) => {
      this.unread.push(JSON.parse(data.toString()));
      this.wake();
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) =>
      socket.once('close', (code) => {
        resolve(code);
        this.wake();
      }),
    );
  }

  static async connect(api: Api, id: string): Promise<RawSession> {
    const socket = new WebSocket(`${api.url().replace(/^http/, 'ws')}/api/v1/session`);
    const session = new RawSession(id, api.namespace, socket);
    await once(socket, 'open');
    return session;
  }

  static async register(api: Api, id: string, options: RawAgentOptions): Promise<RawSession> {
    const session = await RawSession.connect(api, id);
    const agent = { namespace: api.namespace, ...declaration(id, options) };
    const frame = await session.ask({ type: 'register', agent });
    if (frame.type !== 'registered') throw new Error(`not registered: ${JSON.stringify(frame)}`);
    session.lease = frame.lease.lease_id as string;
    return session;
  }

  /** Takes up the lease of `other`, whose connection broke. */
  static async resume(api: Api, other: RawSession, running: string[] = []): Promise<RawSession> {
    const session = await RawSession.connect(api, other.id);
    session.lease = other.lease;
    const frame = {
      type: 'resume',
      namespace: api.namespace,
      agent_id: other.id,
      lease_id: other.lease,
      running,
    };
    const answer = await session.ask(frame);
    if (answer.type !== 'resumed') throw new Error(`not resumed: ${JSON.stringify(answer)}`);
    return session;
  }

  /** Frames that came and were not asked for. */
  pending(): readonly Json[] {
    return this.unread;
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  /** Sends a frame; the answer to it. */
  async ask(frame: object): Promise<Json> {
    const ref = this.ref++;
    this.send({ ref, ...frame });
    return this.frame(`answer ${ref}`, (f) => f.ref === ref);
  }

  /** The first unread frame that matches; others stay for later. */
  async frame(what: string, matches: (frame: Json) => boolean): Promise<Json> {
    const until = performance.now() + FRAME_WITHIN_MS;
    for (;;) {
      const at = this.unread.findIndex(matches);
      if (at >= 0) return this.unread.splice(at, 1)[0];
      const leftMs = until - performance.now();
      if (leftMs <= 0 || this.socket.readyState === WebSocket.CLOSED)
        throw new Error(`no frame "${what}" came to ${this.id}; unread: ${JSON.stringify(this.unread)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** The deliveries of the next offers frame. */
  async offers(): Promise<Json[]> {
    return (await this.frame('offers', (f) => f.type === 'offers')).deliveries as Json[];
  }

  /** Many operations in one frame; one answer each. */
  async operate(operations: object[]): Promise<Json[]> {
    const answer = await this.ask({ type: 'operations', operations });
    return answer.answers as Json[];
  }

  heartbeat(running?: string[]): Promise<Json> {
    return this.ask({ type: 'heartbeat', ...(running !== undefined && { running }) });
  }

  /** Breaks the connection without a goodbye. */
  cut(): void {
    this.socket.terminate();
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}
