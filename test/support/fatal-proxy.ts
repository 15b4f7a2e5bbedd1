import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const TERMINATE = 0x58;
const FATAL = errorResponse('FATAL', '57P01', 'terminating connection due to administrator command');

/**
 * A proxy before PostgreSQL that ends connections as a server does that is told to end at the worst of moments: it says so
 * in one breath with the first "ready", or where the client said its farewell.
 */
export class FatalProxy {
  private readonly sockets = new Set<Socket>();
  /** Connections that are made from now on end so. */
  whenReady = false;
  /** Connections that clients close from now on end so. */
  whenClosed = false;
  /** How many ended so. */
  ended = 0;

  private constructor(private readonly server: Server) {}

  static async start(targetPort: number): Promise<FatalProxy> {
    const server = createServer();
    const proxy = new FatalProxy(server);
    server.on('connection', (client) => proxy.join(client, connect(targetPort, '127.0.0.1')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket, server: Socket): void {
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
    }
    const end = (last: Buffer): void => {
      this.ended++;
      client.end(last);
    };
    server.on('data', (chunk: Buffer) => {
      if (this.whenReady && chunk.subarray(-READY_FOR_QUERY.length).equals(READY_FOR_QUERY))
        end(Buffer.concat([chunk, FATAL]));
      else if (!client.writableEnded) client.write(chunk);
    });
    client.on('data', (chunk: Buffer) => {
      if (this.whenClosed && chunk[0] === TERMINATE) end(FATAL);
      else server.write(chunk);
    });
  }
}

function errorResponse(severity: string, code: string, message: string): Buffer {
  const fields = Buffer.from(`S${severity}\0V${severity}\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
