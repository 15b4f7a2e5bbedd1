import {
  type AgentEvents,
  type AgentOptions,
  type RunOptions,
  type StartOptions,
  type StopOptions,
  type StopReason,
} from './agent-options.js';
import { waitAtMost } from './backoff.js';
import { Client } from './client.js';
import { Connection } from './connection.js';
import { MemoryDedup } from './dedup.js';
import { Deliveries } from './deliveries.js';
import { Emitter } from './emitter.js';
import { ReachTimeoutError } from './errors.js';
import { Handlers, type Handler } from './handlers.js';
import { Heartbeat, LoopDelay } from './heartbeat.js';
import { baseUrls } from './http.js';
import { defaultLogger } from './logger.js';
import { loadManifest, type Manifest } from './manifest.js';
import { Once } from './once.js';
import { openLink } from './open-link.js';
import { Outbox } from './outbox.js';
import { runProbe } from './probe-tool.js';
import { pushHandler, type PushHandler } from './push.js';
import { registrationOf } from './registration.js';
import { type CapabilityDeclaration, type CapacityReport } from './wire.js';

const DAY_MS = 86_400_000;
const DEFAULT_DRAIN_MS = 30_000;
const ANSWER_TIMEOUT_MS = 5000;
/** After the drain time: how long aborted handlers and last results get. */
const LAST_WORDS_MS = 2000;

/** An agent: registers, keeps its lease, takes deliveries, runs handlers, reports results. */
export class Agent extends Emitter<AgentEvents> {
  readonly agentId: string;
  readonly namespace: string;
  private readonly handlers = new Handlers();
  private readonly outbox: Outbox;
  private readonly deliveries: Deliveries;
  private readonly connection: Connection;
  private readonly heartbeat: Heartbeat;
  private readonly loopDelay = new LoopDelay();
  private readonly answerTimeoutMs: number;
  private readonly stopped: Promise<StopReason>;
  private resolveStopped!: (reason: StopReason) => void;
  private rejectStart: (error: Error) => void = () => undefined;
  private resolveStart: () => void = () => undefined;
  private phase: 'new' | 'started' | 'stopping' | 'stopped' = 'new';
  private draining = false;
  private answersPushes = false;

  /** @throws TypeError for options that cannot work */
  constructor(private readonly options: AgentOptions) {
    super(options.logger ?? defaultLogger);
    if (!options.agentId) throw new TypeError('agentId is needed');
    if (options.transport === 'push' && !options.endpoint)
      throw new TypeError('transport "push" needs an endpoint');
    this.agentId = options.agentId;
    this.namespace = options.namespace ?? 'default';
    const urls = baseUrls(options.url ?? process.env['REACH_URL'] ?? 'http://127.0.0.1:8080');
    const token = options.token ?? process.env['REACH_TOKEN'];
    this.stopped = new Promise((resolve) => (this.resolveStopped = resolve));
    this.answerTimeoutMs = options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
    this.outbox = new Outbox((code) => this.connection.refuseLease(code));
    this.deliveries = new Deliveries({
      handlers: this.handlers,
      outbox: this.outbox,
      client: new Client({ url: urls, token, namespace: this.namespace }),
      once: new Once(options.dedup ?? new MemoryDedup(), this.logger),
      maxConcurrency: options.maxConcurrency ?? 1,
      answerTimeoutMs: this.answerTimeoutMs,
      addressedAs: [options.agentId, options.name ?? options.agentId],
      slotFreed: () => this.connection.slotFreed(),
      dropped: (deliveryId, code) => this.emit('dropped', { deliveryId, code }),
      received: (offer) => this.emit('offered', { offer }),
    });
    this.connection = this.newConnection(urls, token);
    this.heartbeat = new Heartbeat({
      beat: () => this.connection.heartbeat(this.capacity()),
      late: (lateMs) => {
        this.logger.warn('the heartbeat was late', { late_ms: lateMs });
        this.emit('heartbeat_late', { lateMs });
      },
      error: (error) => this.emit('error', { error }),
    });
    for (const [capability, handler] of Object.entries(options.capabilities ?? {}))
      this.handle(capability, handler);
  }

  /**
   * An agent described by a YAML manifest (agent_id, name, capabilities, dependencies, transport, ...), with the
   * handlers of its capabilities. `options` win over the file. @throws ManifestError naming every bad place
   */
  static fromManifest(
    file: string,
    handlers: Record<string, Handler>,
    options: Partial<AgentOptions> = {},
  ): Agent {
    const manifest: Manifest = loadManifest(file, Object.keys(handlers));
    const { capabilities, ...settings } = manifest;
    const agent = new Agent({ ...settings, ...options });
    for (const { name, ...declaration } of capabilities) {
      const handler = handlers[name];
      if (handler) agent.handle(name, handler, declaration);
    }
    return agent;
  }

  /** Declares a capability and its handler; before `start`. */
  handle(capability: string, handler: Handler, declaration: Omit<CapabilityDeclaration, 'name'> = {}): this {
    if (this.phase !== 'new') throw new TypeError('capabilities are declared before start');
    this.handlers.add(capability, handler, declaration);
    return this;
  }

  /**
   * Registers and begins to work. Resolves at the first registration and keeps trying until then; from there on
   * the agent survives every absence of the centre by itself.
   * @throws ReachApiError when the registration is refused; ReachTimeoutError after `startTimeoutMs`
   */
  async start(options: StartOptions = {}): Promise<void> {
    if (this.phase !== 'new') throw new TypeError('an agent is started once; make a new one');
    if (this.handlers.declared().length === 0) throw new TypeError('an agent needs at least one capability');
    this.phase = 'started';
    const registered = new Promise<void>((resolve, reject) => {
      this.resolveStart = resolve;
      this.rejectStart = reject;
    });
    const { startTimeoutMs } = options;
    const timer =
      startTimeoutMs === undefined
        ? undefined
        : setTimeout(
            () => this.rejectStart(new ReachTimeoutError(`not registered within ${startTimeoutMs} ms`)),
            startTimeoutMs,
          );
    this.loopDelay.start();
    void this.connection.run();
    try {
      await registered;
    } catch (error) {
      this.shutDown('stopped');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Stops in an orderly way: takes nothing new, says goodbye, lets running handlers finish for `drainMs`,
   * reports their results, and closes. What is still running then is aborted and handed to another agent.
   */
  async stop(options: StopOptions = {}): Promise<void> {
    if (this.phase === 'new') return this.shutDown('stopped');
    if (this.phase !== 'started') return void (await this.stopped);
    this.phase = 'stopping';
    const drainMs = options.drainMs ?? DEFAULT_DRAIN_MS;
    this.resolveStart();
    this.deliveries.stopTaking();
    await waitAtMost(LAST_WORDS_MS, this.connection.deregister(drainMs));
    const finished = this.deliveries.idle().then(() => this.outbox.idle());
    await waitAtMost(drainMs, finished);
    this.deliveries.abortAll('DRAIN_DEADLINE');
    await waitAtMost(LAST_WORDS_MS, finished);
    this.shutDown('stopped');
  }

  /** Starts, works until stopped (by a signal, `stop`, a drain or a newer process of the same id), and says why. */
  async run(options: RunOptions = {}): Promise<StopReason> {
    const release = options.signals === false ? () => undefined : this.stopAtSignals(options);
    try {
      await this.start(options);
      return await this.stopped;
    } finally {
      release();
    }
  }

  /** Receives deliveries of transport `push`: mount it at the declared endpoint. */
  pushHandler(): PushHandler {
    this.answersPushes = true;
    return pushHandler({
      leaseId: () => this.connection.leaseId,
      probe: () => runProbe(this.options.probe),
      take: (offer) => this.deliveries.pushed(offer),
    });
  }

  /** How the agent is doing now. */
  status(): { connected: boolean; leaseId: string | undefined; running: number; unreported: number } {
    return {
      connected: this.connection.connected,
      leaseId: this.connection.leaseId,
      running: this.deliveries.inFlight,
      unreported: this.outbox.size,
    };
  }

  private newConnection(urls: string[], token: string | undefined): Connection {
    const transport = this.options.transport ?? 'session';
    const { deliveries, outbox, answerTimeoutMs } = this;
    return new Connection(
      {
        open: (listener, attempt) => openLink({ urls, token, transport, answerTimeoutMs }, listener, attempt),
        registration: () => registrationOf(this.options, this.handlers.declared(), this.capacity()),
        running: () => deliveries.running(),
        answersPushes: () => this.answersPushes,
        inbound: {
          offers: (offers) => deliveries.offered(offers),
          stale: (stale) => deliveries.stale(stale),
          drain: () => this.drain(),
          probe: () => runProbe(this.options.probe),
          freeSlots: () => deliveries.freeSlots,
        },
        listener: {
          connected: (link, resumed) => {
            outbox.attach(link);
            deliveries.connected();
            this.resolveStart();
            this.emit('connected', { resumed, transport: link.kind });
          },
          disconnected: (reason, frameTooLarge) => {
            outbox.detach(frameTooLarge);
            this.emit('disconnected', { reason });
          },
          registered: (answer) => {
            this.heartbeat.start(answer.heartbeat_interval_ms);
            for (const warning of answer.warnings) this.logger.warn(warning, { agent_id: this.agentId });
            this.emit('registered', { leaseId: answer.lease_id, warnings: answer.warnings });
          },
          renewed: (answer) => deliveries.stale(answer.stale),
          leaseLost: (code) => {
            deliveries.abortAll(code);
            this.logger.warn('the lease has ended', { agent_id: this.agentId, code });
            this.emit('lease_lost', { code });
          },
          ended: (why) => this.endedByCentre(why),
          refused: (error) => this.emit('error', { error }),
        },
      },
      (error) => this.rejectStart(error),
    );
  }

  private capacity(): CapacityReport {
    const { deliveries } = this;
    const average = deliveries.averageTaskMs;
    return {
      in_flight: deliveries.inFlight,
      queued: deliveries.queued,
      pool_usage: Math.min(1, deliveries.inFlight / (this.options.maxConcurrency ?? 1)),
      loop_delay_ms: this.loopDelay.takeMs(),
      // The wire ends at a day; a heartbeat that is refused for it would cost the lease.
      ...(average === undefined ? {} : { avg_task_ms: Math.min(DAY_MS, Math.round(average * 10) / 10) }),
    };
  }

  private drain(): void {
    if (this.draining) return;
    this.draining = true;
    this.deliveries.stopTaking();
    this.emit('drain', {});
  }

  private endedByCentre(why: 'superseded' | 'drained'): void {
    this.deliveries.abortAll(why === 'superseded' ? 'REACH_LEASE_SUPERSEDED' : 'REACH_LEASE_EXPIRED');
    if (why === 'superseded') {
      this.logger.error('a newer process registered under this agent id; this one stops', {
        agent_id: this.agentId,
      });
      this.emit('superseded', {});
    }
    this.shutDown(why);
  }

  private shutDown(reason: StopReason): void {
    if (this.phase === 'stopped') return;
    this.phase = 'stopped';
    this.deliveries.stopTaking();
    this.heartbeat.stop();
    this.loopDelay.stop();
    this.connection.stop();
    this.outbox.clear();
    this.resolveStart();
    this.resolveStopped(reason);
    this.emit('stopped', { reason });
  }

  /** The first signal drains; more of SIGTERM change nothing, a second SIGINT (a person at a keyboard) ends the drain. */
  private stopAtSignals(options: StopOptions): () => void {
    let interrupts = 0;
    const onTerm = () => void this.stop(options);
    const onInt = () => {
      interrupts += 1;
      if (interrupts === 1) void this.stop(options);
      else this.shutDown('stopped');
    };
    process.on('SIGTERM', onTerm);
    process.on('SIGINT', onInt);
    return () => {
      process.off('SIGTERM', onTerm);
      process.off('SIGINT', onInt);
    };
  }
}
