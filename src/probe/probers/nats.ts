import { credsAuthenticator, nkeyAuthenticator } from '@nats-io/nats-core';
import type { z } from 'zod';
import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import { natsDependency } from '../../registry/dependency.wire.js';
import type { Credentials } from '../../platform/outbound/credentials.js';
import type { MeteredStream } from '../client/metered-stream.js';
import { ProbeFailure } from '../client/probe-failure.js';
import { openServer, serverOf, upgradeServer, userOf } from '../client/server-stream.js';
import type { Prober } from '../prober.js';
import { serverProber } from './server-prober.js';
import type { Targeted } from './target.js';

type NatsTarget = Targeted<z.output<typeof natsDependency>>;
const PORT = 4222;
/** A line of the protocol, INFO being the longest. */
const LINE_LIMIT = 32 * 1024;

interface Info {
  tls_required?: unknown;
  tls_available?: unknown;
  nonce?: unknown;
}

/**
 * CONNECT and PING, by the client protocol itself. The client of the field takes no connection of ours, reads
 * INFO without a bound and goes without listeners for errors between its phases, which a hostile server could
 * end the process with; its authenticators (nkeys, credentials files) are used.
 */
export function natsProber(guard: AddressGuard, credentials: Credentials): Prober<NatsTarget> {
  const kind = { type: 'nats', schema: natsDependency, usualPort: PORT };
  return serverProber(kind, credentials, async (t, secret, run) => {
    const server = { ...serverOf(t.target, PORT), tls: t.options.tls };
    const plain = await openServer(guard, { host: server.host, port: server.port }, run);
    const info = parseInfo(await plain.line(LINE_LIMIT));
    const speaksTls = info.tls_required === true || info.tls_available === true;
    const mustSpeakTls = t.target.startsWith('tls:');
    if (mustSpeakTls && !speaksTls) throw new ProbeFailure('tls', 'the server does not speak TLS');
    const stream = speaksTls ? await upgradeServer(plain, server, run) : plain;
    return greet(stream, { ...authentication(t, secret, info.nonce), tls_required: speaksTls });
  });
}

function parseInfo(line: string): Info {
  if (!line.startsWith('INFO '))
    throw new ProbeFailure('wrong_answer', 'the server does not speak as NATS does');
  try {
    return (JSON.parse(line.slice(5)) ?? {}) as Info;
  } catch {
    throw new ProbeFailure('wrong_answer', 'the INFO of the server is not JSON');
  }
}

/** The fields of CONNECT for a secret of whatever kind. */
function authentication(t: NatsTarget, secret: string | undefined, nonce: unknown): Record<string, unknown> {
  const user = userOf(t.target);
  if (secret === undefined) return user === undefined ? {} : { user };
  const bytes = new TextEncoder().encode(secret);
  const challenge = typeof nonce === 'string' ? nonce : undefined;
  try {
    if (secret.includes('-----BEGIN NATS USER JWT-----')) return { ...credsAuthenticator(bytes)(challenge) };
    if (/^SU[A-Z2-7]{56}$/.test(secret)) return { ...nkeyAuthenticator(bytes)(challenge) };
  } catch {
    throw new ProbeFailure('misconfigured', `${t.credential ?? 'the credential'} is no NATS credential`);
  }
  return user === undefined ? { auth_token: secret } : { user, pass: secret };
}

async function greet(stream: MeteredStream, fields: Record<string, unknown>): Promise<string> {
  const connect = {
    verbose: false,
    pedantic: false,
    lang: 'agent-reach',
    version: '1',
    protocol: 1,
    ...fields,
  };
  stream.write(`CONNECT ${JSON.stringify(connect)}\r\nPING\r\n`);
  for (;;) {
    const line = await stream.line(LINE_LIMIT);
    if (line === 'PONG') return 'PONG';
    if (line.startsWith('-ERR')) throw refusal(line.slice(4).trim());
    // A server may send its INFO anew, may ask for a sign of life, and may say OK.
    if (line === 'PING') stream.write('PONG\r\n');
    else if (line !== '+OK' && !line.startsWith('INFO '))
      throw new ProbeFailure('wrong_answer', `PING was answered with ${line.slice(0, 60)}`);
  }
}

function refusal(said: string): ProbeFailure {
  const unauthorized = /authorization|authentication|permission|account/i.test(said);
  return new ProbeFailure(unauthorized ? 'unauthorized' : 'server_error', said);
}
