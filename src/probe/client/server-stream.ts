import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import { guardedConnect, startTls, type TlsMode } from '../../platform/outbound/guarded-connect.js';
import type { Attempt } from './attempt.js';
import { MeteredStream } from './metered-stream.js';

/** Where a server is, as its URL says. */
export interface Server {
  host: string;
  port: number;
}

/** A connection to a server for a driver: to an allowed address, bounded in bytes, gone with the attempt. */
export async function openServer(
  guard: AddressGuard,
  server: Server & { tls?: TlsMode | undefined },
  attempt: Attempt,
): Promise<MeteredStream> {
  const socket = await guardedConnect(guard, server, attempt.limits.connectMs, attempt.signal);
  return metered(new MeteredStream(socket, attempt.limits.firstByteMs), attempt);
}

/** TLS over a connection whose server has agreed to it; the certificate must be of `server.host`. */
export async function upgradeServer(
  plain: MeteredStream,
  server: Server & { tls: TlsMode },
  attempt: Attempt,
): Promise<MeteredStream> {
  const socket = await startTls(plain, server, attempt.limits.connectMs, attempt.signal);
  return metered(new MeteredStream(socket, attempt.limits.firstByteMs), attempt);
}

function metered(stream: MeteredStream, attempt: Attempt): MeteredStream {
  attempt.hold(() => stream.destroy());
  return stream;
}

/** Host and port of a server's URL. */
export function serverOf(target: string, usualPort: number): Server {
  const { hostname, port } = new URL(target);
  return { host: hostname, port: Number(port || usualPort) };
}

/** User, password and database of a URL, decoded. */
export function userOf(target: string): string | undefined {
  const { username } = new URL(target);
  return username === '' ? undefined : decodeURIComponent(username);
}

/** The first part of the path of a URL, decoded. */
export function pathOf(target: string): string | undefined {
  const path = new URL(target).pathname.replace(/^\//, '');
  return path === '' ? undefined : decodeURIComponent(path);
}
