import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';
import { type AddressGuard, bareHost } from './address-guard.js';
import { ConnectError, connectFaultOf } from './connect-error.js';
import { unless } from './lookups.js';

/** How a server proves who it is: `verify` by a certificate that this machine trusts, `insecure` not at all. */
export type TlsMode = 'verify' | 'insecure';

export interface ConnectTarget {
  host: string;
  port: number;
  /** Absent: a plain connection. */
  tls?: TlsMode | undefined;
  alpn?: string[];
}

/**
 * A connection to an address that the guard allows: resolve, judge, connect to what was judged, and where TLS
 * is wanted check the certificate against the name. Whoever gets the socket destroys it.
 *
 * @param timeoutMs for the name, all addresses and TLS together
 * @throws ConnectError; the reason of `signal` when that aborts
 */
export function guardedConnect(
  guard: AddressGuard,
  target: ConnectTarget,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Socket | TLSSocket> {
  return inTime(target, timeoutMs, signal, async (ending) => {
    const addresses = await guard.addressesOf(target.host, ending);
    const socket = await firstOf(addresses, target.port, timeoutMs, ending);
    return target.tls === undefined ? socket : secured(socket, target, target.tls, ending);
  });
}

/**
 * TLS over a connection that is there already; the certificate must be of `target.host`, not of the address.
 * @throws ConnectError; the reason of `signal` when that aborts
 */
export function startTls(
  stream: Duplex,
  target: ConnectTarget & { tls: TlsMode },
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<TLSSocket> {
  return inTime(target, timeoutMs, signal, (ending) => secured(stream, target, target.tls, ending));
}

async function inTime<T>(
  target: ConnectTarget,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (ending: AbortSignal) => Promise<T>,
): Promise<T> {
  const where = `${target.host}:${target.port}`;
  const ending = new AbortController();
  const late = new ConnectError('connect_timeout', `${where} did not take a connection in ${timeoutMs} ms`);
  const timer = setTimeout(() => ending.abort(late), timeoutMs);
  const stop = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    return await work(ending.signal);
  } catch (error) {
    if (error instanceof ConnectError) throw error;
    if (ending.signal.aborted) throw ending.signal.reason;
    const fault = connectFaultOf(error) ?? (target.tls === undefined ? 'unreachable' : 'tls');
    const { code, message } = error as Error & { code?: unknown };
    const reason = typeof code === 'string' ? code : message;
    throw new ConnectError(fault, `${where}: ${WORDS[fault]} (${reason})`, { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

const WORDS: Readonly<Record<ConnectError['fault'], string>> = {
  dns: 'the name has no address',
  refused: 'nobody listens there',
  unreachable: 'no way leads there',
  connect_timeout: 'no connection in time',
  tls: 'no trustworthy TLS connection',
  closed: 'the connection was cut',
  address_denied: 'the address is denied',
  misconfigured: 'this process cannot open a connection',
};

/** One address after the other, each with its share of the time. The most telling error is thrown. */
async function firstOf(
  addresses: readonly string[],
  port: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  const errors: unknown[] = [];
  const deadline = performance.now() + timeoutMs;
  for (const [at, address] of addresses.entries()) {
    const left = addresses.length - at;
    // The last one ends with the whole: the timer of that says so.
    const share = left === 1 ? undefined : (deadline - performance.now()) / left;
    try {
      return await opened(connect({ host: address, port, noDelay: true }), share, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      errors.push(error);
    }
  }
  throw errors.find((error) => connectFaultOf(error) === 'refused') ?? errors[0];
}

async function opened(socket: Socket, shareMs: number | undefined, signal: AbortSignal): Promise<Socket> {
  const timer =
    shareMs === undefined
      ? undefined
      : setTimeout(() => socket.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })), shareMs);
  try {
    return await settled(socket, 'connect', signal);
  } finally {
    clearTimeout(timer);
  }
}

function secured(
  stream: Duplex,
  target: ConnectTarget,
  mode: TlsMode,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const host = bareHost(target.host);
  const tls = connectTls({
    socket: stream,
    host,
    rejectUnauthorized: mode === 'verify',
    ...(isIP(host) === 0 && { servername: host }),
    ...(target.alpn && { ALPNProtocols: target.alpn }),
  });
  return settled(tls, 'secureConnect', signal).catch((error: unknown) => {
    stream.destroy();
    throw error;
  });
}

/** The socket once `event` came; destroyed when an error or `signal` came first. */
async function settled<S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  const listeners: [string, (error?: Error) => void][] = [];
  const ready = new Promise<void>((resolve, reject) => {
    const cut = Object.assign(new Error('closed'), { code: 'ECONNRESET' });
    listeners.push([event, () => resolve()], ['error', reject], ['close', () => reject(cut)]);
    for (const [name, listener] of listeners) socket.once(name, listener);
  });
  // Until its user listens, and after it is given up, an error must not end the process.
  socket.on('error', () => undefined);
  try {
    await unless(signal, ready);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    for (const [name, listener] of listeners) socket.off(name, listener);
  }
}

/** For `connect` of an undici Agent or Client: the same for HTTP. */
export function guardedConnector(
  guard: AddressGuard,
  timeoutMs: number,
  tls: TlsMode = 'verify',
  signal?: AbortSignal,
): buildConnector.connector {
  return (options, callback) => {
    const secure = options.protocol === 'https:';
    const target: ConnectTarget = {
      host: options.hostname,
      port: Number(options.port || (secure ? 443 : 80)),
      ...(secure && { tls, alpn: ['http/1.1'] }),
    };
    guardedConnect(guard, target, timeoutMs, signal).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error as Error, null),
    );
  };
}
