import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type Connection, createConnection } from 'mysql2';
import type { z } from 'zod';
import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import { mysqlDependency } from '../../registry/dependency.wire.js';
import type { Credentials } from '../../platform/outbound/credentials.js';
import { type MeteredStream, shielded } from '../client/metered-stream.js';
import { ProbeFailure } from '../client/probe-failure.js';
import { openServer, pathOf, serverOf, userOf } from '../client/server-stream.js';
import type { Prober } from '../prober.js';
import { serverProber, unlessBroken } from './server-prober.js';
import type { Targeted } from './target.js';

type MysqlTarget = Targeted<z.output<typeof mysqlDependency>>;
const PORT = 3306;

/** Logs in and runs `SELECT 1`. */
export function mysqlProber(guard: AddressGuard, credentials: Credentials): Prober<MysqlTarget> {
  const kind = { type: 'mysql', schema: mysqlDependency, usualPort: PORT };
  return serverProber(kind, credentials, async (t, password, run) => {
    const stream = await openServer(guard, serverOf(t.target, PORT), run);
    const client = clientOn(stream, t, password, run.limits.totalMs);
    run.hold(() => client.destroy());
    const answer = await unlessBroken(stream, ask(client)).catch((error: unknown) => {
      throw (t.options.tls === 'verify' && distrust(client)) || error;
    });
    // A server counts those who leave without a word as aborted, and in the end locks their host out.
    client.end(() => undefined);
    return answer;
  });
}

function clientOn(
  stream: MeteredStream,
  t: MysqlTarget,
  password: string | undefined,
  totalMs: number,
): Connection {
  const { tls } = t.options;
  const database = pathOf(t.target);
  const client = createConnection({
    stream: () => stream,
    host: serverOf(t.target, PORT).host,
    user: userOf(t.target) ?? 'root',
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ...(tls !== 'off' && {
      ssl: { rejectUnauthorized: tls === 'verify', verifyIdentity: tls === 'verify' },
    }),
    // Ours is earlier.
    connectTimeout: totalMs + 1000,
  });
  client.on('error', () => undefined);
  shieldTls(client);
  return client;
}

/** The part of the driver that begins TLS in mid handshake, on a stream of its own. */
interface TlsDriver {
  stream: Duplex & Partial<Pick<TLSSocket, 'authorizationError'>>;
  startTLS(onSecure: (error?: Error) => void): void;
}

/** What the driver throws at bytes that come under TLS is caught as well. */
function shieldTls(client: Connection): void {
  const driver = client as unknown as TlsDriver;
  const startTls = driver.startTLS.bind(driver);
  driver.startTLS = (onSecure) => {
    startTls(onSecure);
    const { stream } = driver;
    const emit = stream.emit.bind(stream);
    stream.emit = (event: string | symbol, ...args: unknown[]) =>
      event === 'data' ? shielded(stream, () => emit(event, ...args)) : emit(event, ...args);
  };
}

/** A certificate that was refused: the driver only says that the connection was lost. */
function distrust(client: Connection): ProbeFailure | undefined {
  // A code, whatever the types say.
  const reason = (client as unknown as TlsDriver).stream.authorizationError as unknown as string | null;
  return reason ? new ProbeFailure('tls', `its certificate is not trusted (${reason})`) : undefined;
}

async function ask(client: Connection): Promise<string> {
  const rows = await new Promise<unknown>((resolve, reject) => {
    client.query('SELECT 1 AS one', (error: unknown, found: unknown) =>
      error ? reject(refusal(error) ?? (error as Error)) : resolve(found),
    );
  });
  const [row] = Array.isArray(rows) ? (rows as { one?: unknown }[]) : [];
  if (row?.one === 1) return 'SELECT 1';
  throw new ProbeFailure('wrong_answer', 'SELECT 1 was not answered with 1');
}

/** Access denied: by password, to the database, by a plugin; account locked, password expired. */
const UNAUTHORIZED = new Set([1044, 1045, 1142, 1227, 1698, 1820, 1862, 3118, 3878, 3955, 4151]);
/** No such database, nothing that the server understands. */
const CONTRACT = new Set([1049, 1064, 1047, 1251]);

/** What an error packet means; undefined for an error that the server did not send. */
function refusal(error: unknown): ProbeFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  const { errno, sqlState, code, message } = error as Error & Record<'errno' | 'sqlState' | 'code', unknown>;
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') return new ProbeFailure('tls', 'the server does not speak TLS');
  if (code === 'HANDSHAKE_SSL_ERROR') return new ProbeFailure('tls', message);
  if (typeof errno !== 'number' || typeof sqlState !== 'string') return undefined;
  if (UNAUTHORIZED.has(errno)) return new ProbeFailure('unauthorized', message);
  return new ProbeFailure(CONTRACT.has(errno) ? 'contract' : 'server_error', message);
}
