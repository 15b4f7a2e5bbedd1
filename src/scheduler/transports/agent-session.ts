import { Logger } from '@nestjs/common';
import type { RawData, WebSocket } from 'ws';
import { ReachError, wireCode } from '../../core/errors.js';
import type { ProbeResult } from '../../core/probe-result.js';
import { deliveryIdOf } from '../../core/task-state.js';
import { parseJsonBody } from '../../platform/http/json-body.js';
import { validationFailed } from '../../platform/http/schema.pipe.js';
import { toReachError } from '../../platform/http/to-reach-error.js';
import type { ReportedLoad } from '../../probe/echo-port.js';
import { agentKey } from '../../registry/agent-row.js';
import type { Registry } from '../../registry/registry.js';
import type { LeaseRef } from '../../registry/registry.store.js';
import type { Deliveries } from '../deliveries.js';
import type { PlacementStore } from '../placement.store.js';
import { agentFrame, type AgentFrame, type CentreFrame } from '../session.wire.js';
import type { Inbox } from './inbox.js';
import type { OfferWriter } from './offer-writer.js';
import { PendingEchoes } from './pending-echoes.js';
import type { AgentSink, Sessions } from './sessions.js';

/** What a session works with. */
export interface SessionTools {
  registry: Registry;
  deliveries: Deliveries;
  inbox: Inbox;
  sessions: Sessions;
  store: PlacementStore;
  writer: OfferWriter;
}

/** A session that reads slower than this much is let go: memory is not for one slow reader. */
const SEND_BUFFER_LIMIT = 64 * 1024 * 1024;
export const CLOSE_GOING_AWAY = 1001;
const CLOSE_POLICY = 1008;

type Registering = Extract<AgentFrame, { type: 'register' | 'resume' }>;
type Leased = Exclude<AgentFrame, Registering | { type: 'echo' }>;

/** One WebSocket of one agent. The first frame registers it or takes a lease up again. */
export class AgentSession implements AgentSink {
  private readonly log = new Logger(AgentSession.name);
  private ref: LeaseRef | undefined;
  /** A register or resume came; the next one would take this session for another agent before the first is answered. */
  private begun = false;
  private leaving = false;
  private readonly echoes = new PendingEchoes();
  load: ReportedLoad | undefined;
  /** Monotonic ms of the last frame or pong. */
  heardAt = performance.now();

  constructor(
    private readonly socket: WebSocket,
    private readonly tools: SessionTools,
    private readonly whenBroken: (ref: LeaseRef, because: string) => void,
  ) {
    socket.on('message', (data) => this.receive(data));
    socket.on('pong', () => (this.heardAt = performance.now()));
    socket.on('close', (code) => this.closed(code));
    socket.on('error', (err) => this.log.debug({ msg: 'a session broke', agent_id: this.ref?.agentId, err }));
  }

  get leaseId(): string {
    return this.ref?.leaseId ?? '';
  }

  private get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  get registered(): boolean {
    return this.ref !== undefined;
  }

  offer(offers: readonly string[]): void {
    this.sendText(`{"type":"offers","deliveries":[${offers.join(',')}]}`);
  }

  stale(deliveries: readonly { delivery_id: string; reason: string }[]): void {
    this.send({ type: 'stale', deliveries: [...deliveries] });
  }

  drain(): void {
    this.send({ type: 'drain' });
  }

  echo(deep: boolean, timeoutMs: number): Promise<ProbeResult> {
    return this.echoes.ask(timeoutMs, (ref) => this.send({ type: 'echo', ref, deep }));
  }

  ping(): void {
    this.socket.ping();
  }

  /** The lease is over: says why and ends the session; this is no sign of a broken agent. */
  end(error: ReachError): void {
    this.leaving = true;
    this.fail(error, undefined, true);
    this.socket.close(CLOSE_POLICY, wireCode(error.code));
  }

  /** Ends the connection; the agent is free to come back. */
  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  terminate(): void {
    this.socket.terminate();
  }

  private receive(data: RawData): void {
    this.heardAt = performance.now();
    let value: unknown;
    let frame: AgentFrame;
    try {
      value = parseFrame(data);
      frame = readFrame(value);
    } catch (error) {
      this.refuse(error, refOf(value), !this.begun);
      return;
    }
    this.handle(frame).catch((error: unknown) => {
      const fatal = frame.type === 'register' || frame.type === 'resume' || isLeaseEnd(error);
      this.refuse(error, frame.ref, fatal);
    });
  }

  private async handle(frame: AgentFrame): Promise<void> {
    if (frame.type === 'register' || frame.type === 'resume') return this.begin(frame);
    if (frame.type === 'echo') return this.echoes.answer(frame);
    if (this.ref === undefined)
      throw new ReachError('UNAUTHENTICATED', 'the first frame of a session is register or resume');
    return this.handleLeased(frame, this.ref);
  }

  private async begin(frame: Registering): Promise<void> {
    if (this.begun)
      throw new ReachError('STATE_CONFLICT', 'this session has its agent already; open another for another');
    this.begun = true;
    if (frame.type === 'register') {
      this.load = frame.agent.capacity;
      const lease = await this.tools.registry.register({ ...frame.agent, transport: 'session' });
      this.ref = { namespace: lease.namespace, agentId: lease.agent_id, leaseId: lease.lease_id };
      this.send({ type: 'registered', ref: frame.ref, lease });
    } else {
      const ref = { namespace: frame.namespace, agentId: frame.agent_id, leaseId: frame.lease_id };
      const lease = await this.tools.registry.heartbeat(ref, undefined, () => this.isOpen);
      const stale = await this.tools.deliveries.stale(ref.leaseId, frame.running);
      await this.tools.registry.requireLease(ref);
      this.ref = ref;
      this.send({ type: 'resumed', ref: frame.ref, lease: { ...lease, stale } });
      await this.offerAgain(ref, frame.running);
    }
    if (!this.isOpen) {
      this.whenBroken(this.ref, 'closed while it was opened');
      return;
    }
    const key = agentKey(this.ref.namespace, this.ref.agentId);
    this.tools.sessions.open(key, this);
    await this.tools.inbox.drainToSession(key);
  }

  /** Offers that may have been lost with the connection before. */
  private async offerAgain(ref: LeaseRef, running: readonly string[]): Promise<void> {
    const open = await this.tools.store.offersOfLease(ref.namespace, ref.agentId, ref.leaseId);
    const lost = open.filter((o) => !running.includes(deliveryIdOf(o.id, o.fence)));
    const named = lost.map((o) => ({ ...o, capability: this.tools.registry.nameFor(ref, o.capability) }));
    if (named.length > 0)
      this.offer(await this.tools.writer.write(agentKey(ref.namespace, ref.agentId), named));
  }

  private async handleLeased(frame: Leased, ref: LeaseRef): Promise<void> {
    switch (frame.type) {
      case 'operations': {
        const answers = await Promise.all(
          frame.operations.map((op) => this.tools.deliveries.operate(ref.leaseId, op)),
        );
        this.send({ type: 'answers', ref: frame.ref, answers });
        return;
      }
      case 'heartbeat': {
        this.load = frame.capacity ?? this.load;
        const lease = await this.tools.registry.heartbeat(ref, frame.capacity, () => this.isOpen);
        const stale = await this.tools.deliveries.stale(ref.leaseId, frame.running ?? []);
        this.send({ type: 'heartbeat', ref: frame.ref, lease: { ...lease, stale } });
        return;
      }
      case 'deregister': {
        const row = await this.tools.registry.deregister(ref, frame.drain_ms);
        this.leaving = true;
        const drainUntil = (row.drain_until ?? new Date()).toISOString();
        this.send({ type: 'deregistered', ref: frame.ref, drain_until: drainUntil });
      }
    }
  }

  private closed(code: number): void {
    this.echoes.close();
    if (this.ref === undefined) return;
    const key = agentKey(this.ref.namespace, this.ref.agentId);
    const wasCurrent = this.tools.sessions.close(key, this);
    if (wasCurrent && !this.leaving) this.whenBroken(this.ref, `connection closed (${code})`);
  }

  private refuse(error: unknown, ref: number | undefined, fatal: boolean): void {
    this.fail(error, ref, fatal);
    if (fatal) this.socket.close(CLOSE_POLICY);
  }

  private fail(error: unknown, ref: number | undefined, fatal: boolean): void {
    const known = toReachError(error);
    if (known === undefined)
      this.log.error({ msg: 'a session frame failed', agent_id: this.ref?.agentId, err: error });
    const { code, message, retryable } = known ?? new ReachError('INTERNAL', 'the call failed; see the log');
    const places = known?.extra.errors ?? [];
    // The message tells of the first place already.
    const detail = places.length > 1 ? places.map((e) => `${e.pointer}: ${e.detail}`).join('; ') : message;
    this.send({
      type: 'error',
      ...(ref !== undefined && { ref }),
      problem: { code: wireCode(code), detail, retryable },
      fatal,
    });
  }

  private send(frame: CentreFrame): void {
    this.sendText(JSON.stringify(frame));
  }

  private sendText(text: string): void {
    if (!this.isOpen) return;
    if (this.socket.bufferedAmount > SEND_BUFFER_LIMIT) {
      this.log.warn({ msg: 'a session does not read; it is closed', agent_id: this.ref?.agentId });
      this.socket.terminate();
      return;
    }
    this.socket.send(text);
  }
}

function isLeaseEnd(error: unknown): boolean {
  return error instanceof ReachError && (error.code === 'LEASE_EXPIRED' || error.code === 'LEASE_SUPERSEDED');
}

/** What agents report may hold any text; what they register with may not. */
function parseFrame(data: RawData): unknown {
  const raw = Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
  const value = parseJsonBody(raw, true);
  const type = (value as { type?: unknown } | null | undefined)?.type;
  return type === 'register' || type === 'resume' ? parseJsonBody(raw) : value;
}

/** The ref of a frame that may be wrong elsewhere, so that its sender learns which one was refused. */
function refOf(value: unknown): number | undefined {
  const ref = (value as { ref?: unknown } | null | undefined)?.ref;
  return Number.isSafeInteger(ref) && (ref as number) >= 0 ? (ref as number) : undefined;
}

function readFrame(value: unknown): AgentFrame {
  const parsed = agentFrame.safeParse(value);
  if (!parsed.success) throw validationFailed(parsed.error.issues, 'frame');
  return parsed.data;
}
