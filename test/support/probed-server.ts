import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A dependency over HTTP that notes when it is asked, and can be made to fail, to die and to come back. */
export class ProbedServer {
  status = 200;
  body = '{}';
  /** When it was asked, by the monotonic clock. */
  readonly askedAt: number[] = [];
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  private port = 0;

  static async start(): Promise<ProbedServer> {
    const server = new ProbedServer();
    await server.revive();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/health`;
  }

  /** Listens, where it listened before. */
  async revive(): Promise<void> {
    const server = createServer((request, response) => {
      request.resume();
      this.askedAt.push(performance.now());
      response.writeHead(this.status).end(this.body);
    });
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  /** Away at once, as if killed. */
  async die(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /** The shortest time between two probes after `sinceMs`; Infinity when there were fewer than two. */
  shortestGapMs(sinceMs: number): number {
    const asked = this.askedAt.filter((at) => at >= sinceMs);
    return Math.min(Infinity, ...asked.slice(1).map((at, i) => at - (asked[i] as number)));
  }
}
