import { WebSocket } from 'ws';
import { ReachApiError, ReachConnectionError, type Problem } from './errors.js';
import { type LeaseRef, type Link, type LinkListener } from './link.js';
import { REACHABLE } from './probe-tool.js';
import {
  type CapacityReport,
  type LeaseAnswer,
  type Offer,
  type OperationAnswer,
  type RegisterAnswer,
  type RegisterRequest,
  type StaleDelivery,
} from './wire.js';

/** The upgrade was answered, but not with a session: a proxy in between, or a centre without sessions. */
export class UpgradeRefused extends Error {
  constructor(readonly status: number) {
    super(`the WebSocket upgrade was answered with ${status}`);
    this.name = 'UpgradeRefused';
  }
}

type CentreFrame =
  | { type: 'registered'; ref: number; lease: RegisterAnswer }
  | { type: 'resumed' | 'heartbeat'; ref: number; lease: LeaseAnswer }
  | { type: 'answers'; ref: number; answers: OperationAnswer[] }
  | { type: 'deregistered'; ref: number; drain_until: string }
  | { type: 'offers'; deliveries: Offer[] }
  | { type: 'stale'; deliveries: StaleDelivery[] }
  | { type: 'drain' }
  | { type: 'echo'; ref: number; deep?: boolean }
  | { type: 'error'; ref?: number; problem: Problem; fatal: boolean };

interface Call {
  type: string;
  sentAt: number;
  resolve: (frame: CentreFrame) => void;
  reject: (error: Error) => void;
}

export interface SessionOptions {
  url: string;
  token: string | undefined;
  handshakeTimeoutMs: number;
  /** A call without an answer for so long means that the connection is dead. */
  answerTimeoutMs: number;
}

const FRAME_TOO_LARGE = 1009;
const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** Opens a session. Rejects with `UpgradeRefused`, `ReachApiError` (401, 403) or `ReachConnectionError`. */
export function openSession(options: SessionOptions, listener: LinkListener): Promise<SessionLink> {
  const url = `${options.url.replace(/^http/, 'ws')}/api/v1/session`;
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      handshakeTimeout: options.handshakeTimeoutMs,
      // Frames are small and many: compressing them costs more than it saves.
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
      ...(options.token === undefined ? {} : { headers: { authorization: `Bearer ${options.token}` } }),
    });
    socket.once('unexpected-response', (request, response) => {
      const status = response.statusCode ?? 0;
      response.resume();
      request.destroy();
      reject(status === 401 || status === 403 ? denied(status) : new UpgradeRefused(status));
    });
    socket.on('error', (error) => reject(new ReachConnectionError(options.url, error.message, error)));
    socket.once('open', () => {
      socket.removeAllListeners('error');
      resolve(new SessionLink(socket, options, listener));
    });
  });
}

function denied(status: 401 | 403): ReachApiError {
  return status === 401
    ? new ReachApiError({ code: 'REACH_UNAUTHENTICATED', detail: 'the centre wants a valid token', status })
    : new ReachApiError({ code: 'REACH_FORBIDDEN', detail: 'the token does not permit a session', status });
}

/** One WebSocket; calls and answers are matched by `ref`. */
export class SessionLink implements Link {
  readonly kind = 'session';
  readonly maxInFlight = 8;
  private nextRef = 1;
  private readonly calls = new Map<number, Call>();
  private readonly watch: NodeJS.Timeout;
  private closed = false;
  private stuck = false;

  constructor(
    private readonly socket: WebSocket,
    private readonly options: SessionOptions,
    private readonly listener: LinkListener,
  ) {
    socket.on('message', (data: Buffer) => this.received(data.toString('utf8')));
    socket.on('close', (code) => this.ended(`the connection closed (${code})`, code === FRAME_TOO_LARGE));
    socket.on('error', (error) => this.ended(error.message, false));
    // One timer for all calls: calls are answered in milliseconds or not at all.
    this.watch = setInterval(() => this.closeWhenStuck(), Math.max(50, options.answerTimeoutMs / 4));
    this.watch.unref();
  }

  async register(agent: RegisterRequest): Promise<RegisterAnswer> {
    const frame = await this.call('register', `"agent":${JSON.stringify(agent)}`);
    if (frame.type !== 'registered') throw this.unexpected(frame);
    return frame.lease;
  }

  async resume(lease: LeaseRef, running: string[]): Promise<LeaseAnswer> {
    const body = { namespace: lease.namespace, agent_id: lease.agentId, lease_id: lease.leaseId, running };
    const frame = await this.call('resume', JSON.stringify(body).slice(1, -1));
    if (frame.type !== 'resumed') throw this.unexpected(frame);
    return frame.lease;
  }

  async heartbeat(capacity: CapacityReport, running: string[]): Promise<LeaseAnswer> {
    const frame = await this.call('heartbeat', JSON.stringify({ capacity, running }).slice(1, -1));
    if (frame.type !== 'heartbeat') throw this.unexpected(frame);
    return frame.lease;
  }

  async operations(operations: readonly string[]): Promise<OperationAnswer[]> {
    const frame = await this.call('operations', `"operations":[${operations.join(',')}]`);
    if (frame.type !== 'answers') throw this.unexpected(frame);
    return frame.answers;
  }

  async deregister(drainMs: number): Promise<void> {
    await this.call('deregister', `"drain_ms":${drainMs}`);
  }

  /** Nothing to do: the centre pushes offers as slots become free. */
  slotFreed(): void {}

  close(): void {
    this.ended('closed by the agent', false);
  }

  private call(type: string, fields: string): Promise<CentreFrame> {
    if (this.closed)
      return Promise.reject(new ReachConnectionError(this.options.url, 'the session is closed'));
    const ref = this.nextRef++;
    return new Promise((resolve, reject) => {
      this.calls.set(ref, { type, sentAt: performance.now(), resolve, reject });
      this.socket.send(`{"type":"${type}","ref":${ref},${fields}}`);
    });
  }

  private received(text: string): void {
    let frame: CentreFrame;
    try {
      frame = JSON.parse(text) as CentreFrame;
    } catch {
      this.ended('the centre sent a frame that is not JSON', false);
      return;
    }
    switch (frame.type) {
      case 'offers':
        return this.listener.offers(frame.deliveries);
      case 'stale':
        return this.listener.stale(frame.deliveries);
      case 'drain':
        return this.listener.drain();
      case 'echo':
        return void this.answerEcho(frame.ref, frame.deep === true);
      case 'error':
        return this.failed(frame);
      default:
        this.take(frame.ref)?.resolve(frame);
    }
  }

  /** A plain echo says that this process turns; a deep one runs the agent's probe tool. `ref` is the centre's. */
  private async answerEcho(ref: number, deep: boolean): Promise<void> {
    const answer = deep ? await this.listener.probe() : REACHABLE;
    if (!this.closed) this.socket.send(JSON.stringify({ type: 'echo', ref, ...answer }));
  }

  private failed(frame: Extract<CentreFrame, { type: 'error' }>): void {
    const error = new ReachApiError(frame.problem);
    const call = frame.ref === undefined ? undefined : this.take(frame.ref);
    if (call) call.reject(error);
    else if (error.code.startsWith('REACH_LEASE_')) this.listener.leaseRefused(error.code);
    else if (!frame.fatal) this.refuseOperations(error);
    if (frame.fatal) this.ended(error.message, false);
  }

  /** A frame that could not be read was of ours, and only operations carry what others wrote. */
  private refuseOperations(error: ReachApiError): void {
    for (const [ref, call] of this.calls) if (call.type === 'operations') this.take(ref)?.reject(error);
  }

  private take(ref: number): Call | undefined {
    const call = this.calls.get(ref);
    this.calls.delete(ref);
    return call;
  }

  private unexpected(frame: CentreFrame): Error {
    this.ended(`unexpected answer "${frame.type}"`, false);
    return new ReachConnectionError(this.options.url, `unexpected answer "${frame.type}"`);
  }

  /** Judged at two checks in a row: after a pause of this process the answer may be there, still unread. */
  private closeWhenStuck(): void {
    const oldest = this.calls.values().next();
    const stuck = !oldest.done && performance.now() - oldest.value.sentAt >= this.options.answerTimeoutMs;
    const wasStuck = this.stuck;
    this.stuck = stuck;
    if (!stuck || !wasStuck) return;
    this.ended(`no answer for ${this.options.answerTimeoutMs} ms`, false);
  }

  private ended(reason: string, frameTooLarge: boolean): void {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.watch);
    this.socket.removeAllListeners();
    // A late error of a dead socket has nobody left to hear it, and must not end the process.
    this.socket.on('error', () => undefined);
    this.socket.close();
    this.terminateSoon();
    // The listener first: it tells the outbox what the failure of its frames means.
    this.listener.closed(reason, frameTooLarge);
    for (const call of this.calls.values()) call.reject(new ReachConnectionError(this.options.url, reason));
    this.calls.clear();
  }

  /** A half-open peer never answers the closing handshake. */
  private terminateSoon(): void {
    const timer = setTimeout(() => this.socket.terminate(), 500);
    this.socket.once('close', () => clearTimeout(timer));
  }
}
