import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { WebSocketServer, type WebSocket } from 'ws';
import { type Offer, type OperationAnswer, type RegisterRequest } from '../src/wire.js';

export interface Operation {
  op: string;
  delivery_id: string;
  outputs?: unknown;
  meta?: unknown;
  code?: string;
  message?: string;
  extend_ms?: number;
  raw_error?: unknown;
  dependency?: string;
}

export interface Frame {
  type: string;
  ref: number;
  agent?: RegisterRequest;
  lease_id?: string;
  running?: string[];
  operations?: Operation[];
}

type Problem = { code: string; detail: string; retryable: boolean };

/** A centre in miniature: one lease an agent, the frames of the session and their REST twins. */
export class FakeCentre {
  readonly frames: Frame[] = [];
  readonly operations: Operation[] = [];
  sockets: WebSocket[] = [];
  sessions = true;
  /** Frames to swallow without an answer. */
  silent = (_frame: Frame): boolean => false;
  problemFor = (_frame: Frame): Problem | undefined => undefined;
  answerTo = (op: Operation): OperationAnswer => ({
    delivery_id: op.delivery_id,
    ...(op.op === 'ack' ? { execute: true, deadline: new Date(Date.now() + 60_000).toISOString() } : {}),
  });
  stale: { delivery_id: string; reason: string }[] = [];
  drain = false;
  /** false: as if the refused frame could not be read. */
  refusesByRef = true;
  heartbeatIntervalMs = 60_000;
  lease = '';
  readonly pending: Offer[] = [];
  port = 0;
  private readonly server: Server;
  private readonly wss: WebSocketServer;
  private readonly connections = new Set<Socket>();
  private waiters: { test: () => boolean; resolve: () => void }[] = [];

  constructor() {
    this.server = createServer((request, response) => void this.rest(request, response));
    this.wss = new WebSocketServer({ noServer: true });
    this.server.on('connection', (socket) => {
      this.connections.add(socket);
      socket.on('close', () => this.connections.delete(socket));
    });
    this.server.on('upgrade', (request, socket, head) => {
      if (!this.sessions) {
        socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
        return;
      }
      this.wss.handleUpgrade(request, socket, head, (ws) => this.session(ws));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  /** Away at once, as if killed. */
  async kill(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.connections) socket.destroy();
    this.sockets = [];
    await closed;
  }

  send(frame: object): void {
    for (const socket of this.sockets) socket.send(JSON.stringify(frame));
  }

  /** Offers a delivery, over the session or for the next claim. */
  offer(more: Partial<Offer> = {}): Offer {
    const task = more.task_id ?? randomUUID();
    const offer: Offer = {
      delivery_id: `${task}.${more.fence ?? 1}`,
      task_id: task,
      attempt: 1,
      fence: 1,
      capability: 'a.b',
      payload: {},
      ack_deadline: new Date(Date.now() + 5000).toISOString(),
      execution_timeout_ms: 10_000,
      idempotent: false,
      ...more,
    };
    if (this.sockets.length > 0) this.send({ type: 'offers', deliveries: [offer] });
    else this.pending.push(offer);
    this.changed();
    return offer;
  }

  /** Resolves when `test` holds; it is looked at after each thing that happens here. */
  until(test: () => boolean): Promise<void> {
    if (test()) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push({ test, resolve }));
  }

  count(type: string): number {
    return this.frames.filter((f) => f.type === type).length;
  }

  ops(op: string): Operation[] {
    return this.operations.filter((o) => o.op === op);
  }

  private changed(): void {
    for (const waiter of this.waiters) if (waiter.test()) waiter.resolve();
    this.waiters = this.waiters.filter((w) => !w.test());
  }

  private session(ws: WebSocket): void {
    this.sockets.push(ws);
    ws.on('close', () => {
      this.sockets = this.sockets.filter((s) => s !== ws);
      this.changed();
    });
    ws.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Frame;
      const problem = this.problemFor(frame);
      const silent = this.silent(frame);
      const answer = problem
        ? { type: 'error', problem, fatal: false }
        : silent
          ? undefined
          : this.answer(frame);
      this.frames.push(frame);
      const ref = problem && !this.refusesByRef ? {} : { ref: frame.ref };
      if (answer) ws.send(JSON.stringify({ ...ref, ...answer }));
      this.changed();
    });
  }

  private answer(frame: Frame): object | undefined {
    const lease = { lease_ttl_ms: 1000, state: 'online', drain: this.drain, stale: this.stale.splice(0) };
    switch (frame.type) {
      case 'register':
        this.lease = frame.agent?.lease_id ?? randomUUID();
        return {
          type: 'registered',
          lease: {
            agent_id: frame.agent?.agent_id,
            namespace: 'default',
            lease_id: this.lease,
            lease_ttl_ms: 1000,
            heartbeat_interval_ms: this.heartbeatIntervalMs,
            state: 'online',
            warnings: [],
          },
        };
      case 'resume':
        return { type: 'resumed', lease };
      case 'heartbeat':
        return { type: 'heartbeat', lease };
      case 'operations':
        this.operations.push(...(frame.operations ?? []));
        return { type: 'answers', answers: (frame.operations ?? []).map((op) => this.answerTo(op)) };
      case 'deregister':
        return { type: 'deregistered', drain_until: new Date().toISOString() };
      default:
        return undefined;
    }
  }

  private async rest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    const path = (request.url ?? '').replace('/api/v1/', '');
    const reply = (status: number, json: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
      this.changed();
    };
    if (path === 'deliveries/claim') {
      await this.until(() => this.pending.length > 0 || response.destroyed);
      return reply(200, { deliveries: this.pending.splice(0, body['max'] as number) });
    }
    const types: Record<string, string> = {
      'agent/register': 'register',
      'agent/lease': body['running'] && !body['capacity'] ? 'resume' : 'heartbeat',
      'agent/deregister': 'deregister',
      'deliveries/batch': 'operations',
    };
    const type = types[path];
    if (!type) return reply(404, { code: 'REACH_NOT_FOUND', detail: path, retryable: false });
    const frame = {
      ...body,
      type,
      ref: 0,
      ...(type === 'register' ? { agent: body } : {}),
    } as unknown as Frame;
    const problem = this.problemFor(frame);
    const answer = problem ? undefined : (this.answer(frame) as { lease?: object; answers?: unknown });
    this.frames.push(frame);
    if (problem) return reply(409, problem);
    return reply(200, answer?.lease ?? { answers: answer?.answers, agent_id: 'a', state: 'removing' });
  }
}

/** Something that a test resolves by hand. */
export function gate<T = void>(): { promise: Promise<T>; open: (value: T) => void } {
  let open!: (value: T) => void;
  const promise = new Promise<T>((resolve) => (open = resolve));
  return { promise, open };
}

/** A handler that knows how often it ran. */
export function counted<T>(work: () => T): { readonly calls: number; run: () => T } {
  const self = {
    calls: 0,
    run: () => {
      self.calls += 1;
      return work();
    },
  };
  return self;
}
