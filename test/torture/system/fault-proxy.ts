import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

/** What goes through: everything, nothing in one direction, or nothing at all. */
export type Cut = 'none' | 'there' | 'back' | 'both';

/**
 * A TCP proxy on one way of the system, which can be slow, cut and reset. What a cut holds back is delivered when
 * it heals, as TCP does by sending again; a half-open connection stays dead for good.
 */
export class FaultProxy {
  private readonly connections = new Set<Connection>();
  private cutNow: Cut = 'none';
  private latencyMs = 0;

  private constructor(
    private readonly server: Server,
    private readonly target: () => number,
  ) {}

  /** @param target port on this machine, asked at each connection */
  static async start(target: () => number): Promise<FaultProxy> {
    const server = createServer({ pauseOnConnect: false });
    const proxy = new FaultProxy(server, target);
    server.on('connection', (client) => proxy.join(client));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Everything takes this much longer, in each direction. */
  slow(latencyMs: number): void {
    this.latencyMs = latencyMs;
    for (const connection of this.connections) connection.slow(latencyMs);
  }

  /** Holds back what goes that way, on old connections and new ones. */
  cut(cut: Cut): void {
    this.cutNow = cut;
    for (const connection of this.connections) connection.cut(cut);
  }

  /** Ends every connection the hard way. */
  reset(): void {
    for (const connection of this.connections) connection.reset();
  }

  /** Kills every connection without a word to either side; new ones work. */
  halfOpen(): void {
    for (const connection of this.connections) connection.forget();
  }

  async stop(): Promise<void> {
    this.server.close();
    for (const connection of this.connections) connection.reset();
  }

  private join(client: Socket): void {
    const connection = new Connection(client, connect(this.target(), '127.0.0.1'));
    this.connections.add(connection);
    connection.slow(this.latencyMs);
    connection.cut(this.cutNow);
    connection.whenClosed(() => this.connections.delete(connection));
  }
}

class Connection {
  private readonly there: Pipe;
  private readonly back: Pipe;
  private forgotten = false;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
  ) {
    client.setNoDelay(true);
    server.setNoDelay(true);
    this.there = new Pipe(client, server);
    this.back = new Pipe(server, client);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => undefined);
      socket.on('close', () => this.forgotten || other.destroy());
    }
  }

  /** Both sides: a half-open connection has one that is still there. */
  whenClosed(done: () => void): void {
    let open = 2;
    for (const socket of [this.client, this.server])
      socket.once('close', () => {
        open -= 1;
        if (open === 0) done();
      });
  }

  slow(latencyMs: number): void {
    this.there.latencyMs = latencyMs;
    this.back.latencyMs = latencyMs;
  }

  cut(cut: Cut): void {
    this.there.hold(cut === 'there' || cut === 'both');
    this.back.hold(cut === 'back' || cut === 'both');
  }

  reset(): void {
    this.client.resetAndDestroy();
    this.server.resetAndDestroy();
  }

  forget(): void {
    this.forgotten = true;
    this.there.swallow();
    this.back.swallow();
  }
}

/** One direction of a connection: in order, late by the latency, still while it is held. */
class Pipe {
  latencyMs = 0;
  private readonly waiting: { at: number; data: Buffer }[] = [];
  private timer: NodeJS.Timeout | undefined;
  private held = false;
  private swallowing = false;

  constructor(
    private readonly from: Socket,
    private readonly to: Socket,
  ) {
    from.on('data', (data: Buffer) => this.take(data));
    from.on('end', () => this.swallowing || this.held || to.end());
    to.on('drain', () => this.held || from.resume());
  }

  hold(held: boolean): void {
    if (held === this.held) return;
    this.held = held;
    if (held) this.from.pause();
    else {
      this.from.resume();
      this.flush();
    }
  }

  swallow(): void {
    this.swallowing = true;
    this.waiting.length = 0;
    this.from.resume();
  }

  private take(data: Buffer): void {
    if (this.swallowing) return;
    if (this.latencyMs === 0 && this.waiting.length === 0 && !this.held) return this.send(data);
    this.waiting.push({ at: performance.now() + this.latencyMs, data });
    this.flush();
  }

  private flush(): void {
    if (this.held || this.timer !== undefined) return;
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      const ahead = next.at - performance.now();
      if (ahead > 0.5) {
        this.timer = setTimeout(() => {
          this.timer = undefined;
          this.flush();
        }, ahead);
        return;
      }
      this.waiting.shift();
      this.send(next.data);
    }
  }

  private send(data: Buffer): void {
    if (this.to.destroyed) return;
    if (!this.to.write(data)) this.from.pause();
  }
}
