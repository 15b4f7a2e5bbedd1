import type { Socket } from 'node:net';
import { AbstractConnector, Redis } from 'ioredis';
import type { z } from 'zod';
import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import { redisDependency } from '../../registry/dependency.wire.js';
import type { Credentials } from '../../platform/outbound/credentials.js';
import { ProbeFailure } from '../client/probe-failure.js';
import { openServer, pathOf, serverOf, userOf } from '../client/server-stream.js';
import type { Prober } from '../prober.js';
import { serverProber, unlessBroken } from './server-prober.js';
import type { Targeted } from './target.js';

type RedisTarget = Targeted<z.output<typeof redisDependency>>;
const PORT = 6379;

/** AUTH where there is a credential, SELECT where a database is named, PING. */
export function redisProber(guard: AddressGuard, credentials: Credentials): Prober<RedisTarget> {
  const kind = { type: 'redis', schema: redisDependency, usualPort: PORT };
  return serverProber(kind, credentials, async (t, password, run) => {
    const tls = t.target.startsWith('rediss:') ? t.options.tls : undefined;
    const stream = await openServer(guard, { ...serverOf(t.target, PORT), tls }, run);
    const client = clientOn(stream as unknown as Socket);
    run.hold(() => client.disconnect());
    return unlessBroken(stream, ask(client, t, password));
  });
}

async function ask(client: Redis, t: RedisTarget, password: string | undefined): Promise<string> {
  try {
    await client.connect();
    const user = userOf(t.target);
    // Servers before 6 know no users.
    if (password) await (user === undefined ? client.auth(password) : client.auth(user, password));
    const database = pathOf(t.target);
    if (database !== undefined && database !== '0') await client.select(database);
    const answer: unknown = await client.ping();
    if (answer === 'PONG') return 'PONG';
    throw new ProbeFailure('wrong_answer', `PING was answered with ${JSON.stringify(answer)}`);
  } catch (error) {
    throw refusal(error) ?? error;
  }
}

/** One connection, no retries, nothing sent but what is asked for. */
function clientOn(stream: Socket): Redis {
  class Connected extends AbstractConnector {
    constructor() {
      super(0);
    }

    override connect(): Promise<Socket> {
      this.stream = stream;
      return Promise.resolve(stream);
    }
  }
  const client = new Redis({
    Connector: Connected,
    lazyConnect: true,
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  client.on('error', () => undefined);
  return client;
}

/** What an error reply means; undefined for an error that is none. */
function refusal(error: unknown): ProbeFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  const word = /^([A-Z]+) /.exec(error.message)?.[1];
  if (word === undefined) return undefined;
  if (
    ['NOAUTH', 'WRONGPASS', 'NOPERM'].includes(word) ||
    /AUTH.*called without any password/.test(error.message)
  )
    return new ProbeFailure('unauthorized', error.message);
  return new ProbeFailure(word === 'ERR' ? 'contract' : 'server_error', error.message);
}
