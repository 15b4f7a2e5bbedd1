import type { z } from 'zod';
import type { Credentials } from '../../platform/outbound/credentials.js';
import { type Attempt, attempt } from '../client/attempt.js';
import type { MeteredStream } from '../client/metered-stream.js';
import type { Prober } from '../prober.js';
import { type Declared, hostPort, keyOfTarget, readTarget, slowMsOf, type Targeted } from './target.js';

/** A kind of server that is named by a URL and that one logs in to. */
interface ServerKind<T> {
  type: string;
  schema: z.ZodType<T>;
  /** The port where the URL names none. */
  usualPort: number;
}

/**
 * The prober of a kind of server.
 * @param ask connects, shows the secret (if one is declared) and asks something; resolves to a detail worth showing,
 *   rejects when the server failed
 */
export function serverProber<T extends Omit<Declared, 'target'> & { target?: string | undefined }>(
  { type, schema, usualPort }: ServerKind<T>,
  credentials: Credentials,
  ask: (target: Targeted<T>, secret: string | undefined, run: Attempt) => Promise<string>,
): Prober<Targeted<T>> {
  const hostOf = (t: Targeted<T>) => hostPort(t.target, usualPort);
  return {
    type,
    parse: (declared) => readTarget(schema, declared),
    keyOf: keyOfTarget,
    hostOf,
    probe: (t, limits, signal) =>
      attempt(limits, slowMsOf(t, limits), signal, async (run, secrets) => {
        const secret = t.credential && (await credentials.read(t.credential, hostOf(t)));
        if (secret) secrets.push(secret);
        return ask(t, secret, run);
      }),
  };
}

/** The answer, unless the stream breaks before: what ended it says more than the driver's word for it. */
export function unlessBroken<T>(stream: MeteredStream, answer: Promise<T>): Promise<T> {
  const broken = new Promise<never>((_, reject) => stream.once('error', reject));
  return Promise.race([answer, broken]);
}
