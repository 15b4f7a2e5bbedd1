import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

/**
 * A TCP proxy that can fall silent: connections stay open and nothing comes through any more, in either
 * direction, as when a cable is cut. New connections work.
 */
export class SilentProxy {
  private readonly sockets = new Set<Socket>();
  /** Connections that were open when the silence began. */
  private dead = new Set<Socket>();
  /** New connections are cut as soon as they are made. */
  cutsNew = false;

  private constructor(private readonly server: Server) {}

  static async start(targetPort: number): Promise<SilentProxy> {
    const server = createServer();
    const proxy = new SilentProxy(server);
    server.on('connection', (client) => {
      if (proxy.cutsNew) client.destroy();
      else proxy.join(client, connect(targetPort, '127.0.0.1'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Silences every connection that is open now, for good. */
  silence(): void {
    this.dead = new Set(this.sockets);
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket, upstream: Socket): void {
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(from);
      from.on('data', (data) => this.dead.has(from) || to.write(data));
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        // A dead connection does not even say goodbye.
        if (!this.dead.has(from)) to.destroy();
      });
    }
  }
}
