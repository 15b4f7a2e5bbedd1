import { lookup } from 'node:dns/promises';
import { ConnectError } from './connect-error.js';

/** Asks for all addresses of a name. Rejects with the error of `dns.lookup`. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Names under way at once. A lookup holds one of the four threads that also do the process's files and
 * hashes, for up to half a minute where a name server is silent.
 */
const MOST_UNDER_WAY = 2;

interface Lookup {
  begun: boolean;
  answer: Promise<readonly string[]>;
}

/**
 * Looks names up as everything else on the machine does (hosts file, search domains), a few at a time. Who
 * asks for a name that is being looked up gets the same answer; nothing is remembered.
 */
export class Lookups {
  private readonly underWay = new Map<string, Lookup>();
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(private readonly resolve: Resolve = systemLookup) {}

  /**
   * Every address of `host`.
   * @throws ConnectError `dns` when it has none, or none in time; `misconfigured` when so many lookups hang
   * that this one could not begin; the reason of `signal` otherwise
   */
  async addresses(host: string, signal: AbortSignal): Promise<readonly string[]> {
    const shared = this.underWay.get(host) ?? this.begin(host);
    try {
      return await unless(signal, shared.answer);
    } catch (error) {
      if (!signal.aborted) throw new ConnectError('dns', notFound(host, error), { cause: error });
      if (!shared.begun)
        throw new ConnectError('misconfigured', `${host} was not looked up: other lookups hang`);
      const timedOut = signal.reason instanceof ConnectError;
      if (timedOut) throw new ConnectError('dns', `no name server said in time where ${host} is`);
      throw error;
    }
  }

  private begin(host: string): Lookup {
    const shared: Lookup = { begun: false, answer: Promise.resolve([]) };
    shared.answer = this.run(host, () => (shared.begun = true));
    this.underWay.set(host, shared);
    const forget = () => this.underWay.delete(host);
    shared.answer.then(forget, forget);
    return shared;
  }

  private async run(host: string, onBegin: () => void): Promise<readonly string[]> {
    if (this.running >= MOST_UNDER_WAY) await new Promise<void>((go) => this.waiting.push(go));
    else this.running++;
    onBegin();
    try {
      return await this.resolve(host);
    } finally {
      // The place goes to the next in line; `running` stays as it is then.
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }
}

async function systemLookup(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

function notFound(host: string, error: unknown): string {
  const code = (error as { code?: unknown }).code;
  const reason = typeof code === 'string' ? code : (error as Error).message;
  return `${host} has no address (${reason})`;
}

/** `work`, or a rejection with the reason of `signal` when that comes first. */
export function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
