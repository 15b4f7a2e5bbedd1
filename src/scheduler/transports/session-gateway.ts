import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type ServerOptions, WebSocketServer } from 'ws';
import { ReachError } from '../../core/errors.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { toReachError } from '../../platform/http/to-reach-error.js';
import { Shutdown } from '../../platform/lifecycle/shutdown.js';
import { Ticker } from '../../platform/lifecycle/ticker.js';
import { agentKey } from '../../registry/agent-row.js';
import type { ReachEntry } from '../../registry/reach-table.js';
import { Registry } from '../../registry/registry.js';
import type { LeaseRef } from '../../registry/registry.store.js';
import { RegistryEvents } from '../../registry/registry.events.js';
import { TokenAuthenticator } from '../../security/token-authenticator.js';
import { Deliveries } from '../deliveries.js';
import { PlacementStore } from '../placement.store.js';
import { AgentSession, CLOSE_GOING_AWAY } from './agent-session.js';
import { Inbox } from './inbox.js';
import { noteBroken } from './note-broken.js';
import { OfferWriter } from './offer-writer.js';
import { Sessions } from './sessions.js';

const PATH = '/api/v1/session';
/** A connection that has not named its agent by then is closed. */
const REGISTER_WITHIN_MS = 10_000;
const PING_EVERY_MS = 10_000;
/** Nothing heard for this long, pings answered neither: the connection is half open. */
const DEAD_AFTER_MS = 30_000;

/** A peer that is gone does not answer the farewell; its connection must not outlast us for want of it. */
const FAREWELL_MS = 2000;

/** Accepts agent sessions (WebSocket) on the HTTP port, and ends those whose lease is over. */
@Injectable()
export class SessionGateway implements OnApplicationBootstrap {
  private readonly log = new Logger(SessionGateway.name);
  private readonly server: WebSocketServer;
  private readonly open = new Set<AgentSession>();
  private readonly pinger = new Ticker('session ping', PING_EVERY_MS, () => this.ping());

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly http: HttpAdapterHost,
    private readonly authenticator: TokenAuthenticator,
    private readonly registry: Registry,
    private readonly events: RegistryEvents,
    private readonly deliveries: Deliveries,
    private readonly inbox: Inbox,
    private readonly sessions: Sessions,
    private readonly store: PlacementStore,
    private readonly writer: OfferWriter,
    private readonly shutdown: Shutdown,
  ) {
    // The types do not know of `closeTimeout` yet.
    const options: ServerOptions & { closeTimeout: number } = {
      noServer: true,
      maxPayload: config.batchBodyLimitBytes,
      perMessageDeflate: false,
      closeTimeout: FAREWELL_MS,
    };
    this.server = new WebSocketServer(options);
    shutdown.on('clients', 'agent sessions', () => this.stop());
  }

  onApplicationBootstrap(): void {
    const server = this.http.httpAdapter?.getHttpServer() as Server | undefined;
    server?.on('upgrade', (request, socket, head) => {
      if (request.headers.upgrade?.toLowerCase() === 'websocket') this.upgrade(request, socket, head);
      else goOnWithout(server, request, socket, head);
    });
    this.events.listen('changed', (entry) => this.follow(entry));
    this.pinger.start();
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    if (pathOf(request.url) !== PATH) return refuse(socket, 404, 'Not Found');
    if (this.shutdown.stopping) return refuse(socket, 503, 'Service Unavailable');
    try {
      this.authenticator.authenticate(request.headers);
    } catch (error) {
      return refuse(socket, toReachError(error)?.status ?? 401, 'Unauthorized');
    }
    this.server.handleUpgrade(request, socket, head, (ws) => {
      const tools = {
        registry: this.registry,
        deliveries: this.deliveries,
        inbox: this.inbox,
        sessions: this.sessions,
        store: this.store,
        writer: this.writer,
      };
      const session = new AgentSession(ws, tools, (ref, because) => this.broken(ref, because));
      this.open.add(session);
      const timer = setTimeout(() => {
        if (!session.registered) session.close(1008, 'no register or resume frame came');
      }, REGISTER_WITHIN_MS);
      ws.once('close', () => {
        clearTimeout(timer);
        this.open.delete(session);
      });
    });
  }

  private broken(ref: LeaseRef, because: string): void {
    if (this.shutdown.stopping) return;
    const isMoot = () =>
      this.shutdown.stopping || this.sessions.get(agentKey(ref.namespace, ref.agentId)) !== undefined;
    noteBroken(() => this.registry.sessionBroken(ref, because), isMoot).catch((err: unknown) => {
      this.log.warn({
        msg: 'a broken session was not noted; the lease will tell',
        agent_id: ref.agentId,
        err,
      });
    });
  }

  /** The registry says that an agent changed: its session here may be over, or its agent be told to drain. */
  private follow(entry: ReachEntry): void {
    const session = this.sessions.get(entry.key);
    if (!(session instanceof AgentSession)) return;
    if (session.leaseId !== entry.leaseId)
      session.end(
        new ReachError('LEASE_SUPERSEDED', `agent ${entry.agentId} was registered anew; this lease is over`),
      );
    else if (entry.state === 'offline')
      session.end(new ReachError('LEASE_EXPIRED', `agent ${entry.agentId} lost its lease; register again`));
    else if (entry.state === 'removing') session.drain();
  }

  private ping(): Promise<void> {
    const now = performance.now();
    for (const session of this.open)
      if (now - session.heardAt > DEAD_AFTER_MS) session.terminate();
      else session.ping();
    return Promise.resolve();
  }

  private async stop(): Promise<void> {
    await this.pinger.stop();
    for (const session of this.open) session.close(CLOSE_GOING_AWAY, 'the centre is shutting down');
    this.server.close();
  }
}

const UPGRADE_HEADERS = new Set(['upgrade', 'http2-settings', 'connection']);

/**
 * Answers a call as if it had not offered another protocol. Some clients offer HTTP/2 with each first call (Java's
 * does), and Node takes whoever listens for upgrades to want them all: so the call is read once more, without.
 */
function goOnWithout(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method ?? ''} ${request.url ?? ''} HTTP/1.1`];
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] ?? '';
    if (!UPGRADE_HEADERS.has(name.toLowerCase())) lines.push(`${name}: ${request.rawHeaders[i + 1] ?? ''}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

/** Not by `URL`, which throws at what is none (`//`); nobody but the server itself would catch that. */
function pathOf(target = '/'): string {
  return target.split(/[?#]/, 1)[0] ?? '';
}

function refuse(socket: Duplex, status: number, reason: string): void {
  socket.end(`HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
