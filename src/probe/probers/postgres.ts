import pg from 'pg';
import type { z } from 'zod';
import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import { postgresDependency } from '../../registry/dependency.wire.js';
import type { Attempt } from '../client/attempt.js';
import type { Credentials } from '../../platform/outbound/credentials.js';
import type { MeteredStream } from '../client/metered-stream.js';
import { ProbeFailure } from '../client/probe-failure.js';
import { openServer, pathOf, type Server, serverOf, upgradeServer, userOf } from '../client/server-stream.js';
import type { Prober } from '../prober.js';
import { serverProber, unlessBroken } from './server-prober.js';
import type { Targeted } from './target.js';

type PostgresTarget = Targeted<z.output<typeof postgresDependency>>;
const PORT = 5432;
/** Length 8, code 80877103: "may we speak TLS?" */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Logs in and runs `SELECT 1`. */
export function postgresProber(guard: AddressGuard, credentials: Credentials): Prober<PostgresTarget> {
  const kind = { type: 'postgres', schema: postgresDependency, usualPort: PORT };
  return serverProber(kind, credentials, async (t, password, run) => {
    const server = serverOf(t.target, PORT);
    const plain = await openServer(guard, server, run);
    const { tls } = t.options;
    const stream = tls === 'off' ? plain : await secured(plain, { ...server, tls }, run);
    const client = clientOn(stream, t, password ?? '');
    run.hold(() => void client.end().catch(() => undefined));
    return unlessBroken(stream, ask(client));
  });
}

/** Here and not in the driver: bytes are counted and certificates checked as for everybody else. */
async function secured(
  plain: MeteredStream,
  server: Server & { tls: 'verify' | 'insecure' },
  run: Attempt,
): Promise<MeteredStream> {
  plain.write(SSL_REQUEST);
  const answer = (await plain.next(1)).toString('latin1');
  if (answer === 'S') return upgradeServer(plain, server, run);
  if (answer === 'N') throw new ProbeFailure('tls', 'the server does not speak TLS');
  throw new ProbeFailure('wrong_answer', 'the server does not speak as PostgreSQL does');
}

function clientOn(stream: MeteredStream, t: PostgresTarget, password: string): pg.Client {
  const user = userOf(t.target) ?? 'postgres';
  const client = new pg.Client({
    stream: () => stream,
    user,
    database: pathOf(t.target) ?? user,
    // A function, since an absent password would be looked for in PGPASSWORD and in a file of the dispatcher.
    password: () => password,
    // The same for PGOPTIONS, PGAPPNAME and PGSSLMODE.
    options: '-c client_min_messages=error',
    application_name: 'agent-reach-prober',
    ssl: false,
  });
  client.on('error', () => undefined);
  return client;
}

async function ask(client: pg.Client): Promise<string> {
  try {
    await client.connect();
    const { rows } = await client.query<{ one: unknown }>('SELECT 1 AS one');
    if (rows.length === 1 && rows[0]?.one === 1) return 'SELECT 1';
    throw new ProbeFailure('wrong_answer', 'SELECT 1 was not answered with 1');
  } catch (error) {
    throw refusal(error) ?? error;
  }
}

/** What an SQLSTATE means here; undefined for an error that the server did not send. */
function refusal(error: unknown): ProbeFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  if (/^SASL: .*password must be/.test(error.message))
    return new ProbeFailure(
      'unauthorized',
      'the server asks for a password, and none is declared as credential',
    );
  if (!(error instanceof pg.DatabaseError)) return undefined;
  const code = error.code ?? '';
  const said = `${error.message} (${code})`;
  // 28: invalid authorization. 42501: insufficient privilege.
  if (code.startsWith('28') || code === '42501') return new ProbeFailure('unauthorized', said);
  // 3D: no such database; 08P01, 0A: it does not take what we sent.
  if (/^(3D|0A|08P|22|42)/.test(code)) return new ProbeFailure('contract', said);
  return new ProbeFailure('server_error', said);
}
