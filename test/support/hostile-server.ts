import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** A server on a free port of the loopback that knows which connections are open. */
export interface TestServer {
  port: number;
  /** Connections that the server has open now. */
  open(): number;
  /** Connections that were ever made. */
  made(): number;
  close(): Promise<void>;
}

/** Listens on a free port; `behave` is given each connection. */
export async function startTcp(behave: (socket: Socket) => void): Promise<TestServer> {
  return listening(
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      behave(socket);
      // A socket that nobody reads does not notice its end.
      socket.resume();
    }),
  );
}

async function listening(server: TcpServer | Server, event = 'connection'): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let made = 0;
  server.on(event, (socket: Socket) => {
    made++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    open: () => sockets.size,
    made: () => made,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const FLOOD_CHUNK = Buffer.alloc(256 * 1024, 'x');

const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** Ways to misbehave, by path. */
const BEHAVIOURS: Record<string, RequestListener> = {
  '/ok': (_, res) => res.end('{"ok":true,"echo":"reachable"}'),
  '/wrong': (_, res) => res.end('{"ok":false}'),
  '/html': (_, res) => res.end('<h1>It works!</h1>'),
  '/long': (_, res) => res.end('x'.repeat(200_000)),
  '/slow': (_, res) => void setTimeout(() => res.end('late'), 60),
  '/hang': () => undefined,
  '/drip': (_, res) => {
    res.writeHead(200);
    const timer = setInterval(() => res.write('.'), 10);
    res.on('close', () => clearInterval(timer));
  },
  '/flood': (_, res) => {
    res.writeHead(200);
    const more = () => {
      while (!res.destroyed && res.write(FLOOD_CHUNK));
      if (!res.destroyed) res.once('drain', more);
    };
    more();
  },
  '/header-flood': (req) => {
    req.socket.write('HTTP/1.1 200 OK\r\n');
    const more = () => {
      while (!req.socket.destroyed && req.socket.write(`X-A: ${'y'.repeat(4000)}\r\n`));
      if (!req.socket.destroyed) req.socket.once('drain', more);
    };
    more();
  },
  '/header-drip': (req) => {
    req.socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => req.socket.write('X-A: y\r\n'), 10);
    req.socket.on('close', () => clearInterval(timer));
  },
  '/gzip': (_, res) => {
    res.setHeader('content-encoding', 'gzip');
    res.end(gzipSync('{"ok":true,"echo":"reachable"}'));
  },
  '/gzip-bomb': (_, res) => {
    res.setHeader('content-encoding', 'gzip');
    // 50 MB in some 200 kB.
    res.end(gzipSync(Buffer.alloc(50_000_000), { level: 1 }));
  },
  '/brotli-bomb': (_, res) => {
    res.setHeader('content-encoding', 'br');
    res.end(brotliCompressSync(Buffer.alloc(20_000_000), QUICK));
  },
  '/no-gzip': (_, res) => {
    res.setHeader('content-encoding', 'gzip');
    res.end('this is no gzip');
  },
  '/rot13': (_, res) => {
    res.setHeader('content-encoding', 'rot13');
    res.end('uryyb');
  },
  '/cut': (_, res) => {
    res.writeHead(200, { 'content-length': '1000' });
    res.write('half');
    setImmediate(() => res.destroy());
  },
  '/close': (req) => req.socket.destroy(),
  '/reset': (req) => req.socket.resetAndDestroy(),
  '/garbage': (req) => req.socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
  '/redirect': (_, res) => res.writeHead(302, { location: '/ok?token=secret' }).end(),
  '/echo-secret': (req, res) =>
    res.writeHead(200).end(JSON.stringify({ ok: `you sent ${req.headers.authorization ?? req.url}` })),
  '/protected': (req, res) =>
    res.writeHead(req.headers.authorization === 'Bearer right-secret' ? 200 : 401).end('{}'),
  '/protected-query': (req, res) =>
    res.writeHead(req.url === '/protected-query?a=1&api_key=right-secret' ? 200 : 401).end('{}'),
};

const listener: RequestListener = (req, res) => {
  const path = (req.url ?? '').split('?')[0] ?? '';
  const status = /^\/status\/(\d+)$/.exec(path)?.[1];
  if (status !== undefined) res.writeHead(Number(status)).end();
  else (BEHAVIOURS[path] ?? (() => res.writeHead(404).end()))(req, res);
};

/** An HTTP server that misbehaves as its path says: see `BEHAVIOURS`, and `/status/<n>`. */
export function startHostileHttp(): Promise<TestServer> {
  return listening(createServer(listener));
}

/** The same with TLS. */
export function startHostileHttps(key: string, cert: string): Promise<TestServer> {
  return listening(createTlsServer({ key, cert }, listener));
}
