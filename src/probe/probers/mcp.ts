import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { z } from 'zod';
import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import type { Credentials } from '../../platform/outbound/credentials.js';
import { mcpDependency } from '../../registry/dependency.wire.js';
import { type Attempt, attempt } from '../client/attempt.js';
import { credentialHeaders } from '../client/http-credential.js';
import { statusFailure } from '../client/http-verdict.js';
import { McpConnection, type McpSdk } from '../client/mcp-connection.js';
import { ProbeFailure } from '../client/probe-failure.js';
import { safeFetch } from '../client/safe-fetch.js';
import type { Prober } from '../prober.js';
import { hostPort, keyOfTarget, readTarget, slowMsOf, type Targeted } from './target.js';

type McpTarget = Targeted<z.output<typeof mcpDependency>>;

/** The revision that brought `server/discover`. */
const MODERN = '2026-07-28';
const END_MS = 500;
/** The SDK's own times are never the first to be over: the attempt's are. */
const LATER_MS = 60_000;
const CLIENT = { name: 'agent-reach-prober', version: '1.0.0' };

/**
 * Asks a server over Streamable HTTP for what it is, by the client of the official SDK: `server/discover`, and
 * where the server does not know that, `initialize` and `ping`, after which the session is ended. Tools are never
 * listed nor called.
 */
export function mcpProber(guard: AddressGuard, credentials: Credentials): Prober<McpTarget> {
  return {
    type: 'mcp',
    parse: (declared) => readTarget(mcpDependency, declared),
    keyOf: keyOfTarget,
    hostOf: (t) => hostPort(t.target),
    probe: async (t, limits, signal) => {
      const loading = loadSdk();
      // The time that it takes, once a process, is not the target's.
      await Promise.allSettled([loading]);
      return attempt(limits, slowMsOf(t, limits), signal, async (run, secrets) => {
        const sdk = await loading;
        const headers = { ...t.options.headers, ...(await credentialHeaders(t, credentials, secrets)) };
        return new McpProbe(sdk, guard, t, headers, run).ask();
      });
    },
  };
}

/**
 * Loading takes 0.2 s and 16 MB (measured on Node 20), which a dispatcher without MCP servers need not have.
 * @throws ProbeFailure `misconfigured` when it is not installed
 */
async function loadSdk(): Promise<McpSdk> {
  try {
    const sdk = await import('@modelcontextprotocol/client');
    // Once; the first answer of a server would else seem slow by it.
    sdk.preloadSchemas();
    return sdk;
  } catch (error) {
    throw new ProbeFailure(
      'misconfigured',
      `the MCP client cannot be loaded (${(error as Error).message}): install the dispatcher's packages anew`,
    );
  }
}

class McpProbe {
  private readonly broken: Promise<never>;
  private break!: (error: unknown) => void;
  private call: 'initialize' | 'ping' = 'initialize';

  constructor(
    private readonly sdk: McpSdk,
    private readonly guard: AddressGuard,
    private readonly t: McpTarget,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly run: Attempt,
  ) {
    this.broken = new Promise((_, reject) => (this.break = reject));
    this.broken.catch(() => undefined);
  }

  /**
   * What the server is.
   * @throws what went wrong on the way, rather than what the SDK makes of it; ProbeFailure
   */
  ask(): Promise<string> {
    return Promise.race([this.greet(), this.broken]);
  }

  private async greet(): Promise<string> {
    try {
      return await this.talk();
    } catch (error) {
      // Some old servers fall over a call that they do not know; the SDK takes that for the end.
      if (!(error instanceof this.sdk.SdkHttpError && error.status >= 500)) throw this.failureIn(error);
    }
    return this.talk({ kind: 'legacy' }).catch((error: unknown) => {
      throw this.failureIn(error);
    });
  }

  /** @param prior what is known of the server, which is then not asked for */
  private async talk(prior?: PriorDiscovery): Promise<string> {
    const { run, sdk, t } = this;
    const failed = (error: unknown) => this.break(error);
    const fetch = safeFetch(this.guard, t.options.tls, run, failed);
    const connection = new McpConnection(sdk, { url: t.target, headers: this.headers, fetch }, failed);
    run.hold(() => void connection.close().catch(() => undefined));
    const client = new sdk.Client(CLIENT, { versionNegotiation: { mode: 'auto' } });
    const options = { timeout: run.limits.totalMs + LATER_MS };
    try {
      await client.connect(connection, { ...options, ...(prior && { prior }) });
      const version = client.getNegotiatedProtocolVersion() ?? '';
      if (version >= MODERN) return discovered(connection);
      this.call = 'ping';
      await client.ping(options);
      return `initialize and ping: ${version}`;
    } catch (error) {
      // It wants a version that the SDK does not know: it is there, and can be talked to.
      if (connection.supportedVersions.some((version) => version >= MODERN)) return discovered(connection);
      throw error;
    } finally {
      await this.end(connection);
    }
  }

  /** A server may keep sessions for long: this one is over. That is a courtesy, so it is given little time. */
  private async end(connection: McpConnection): Promise<void> {
    if (connection.sessionId === undefined) return;
    // How it goes says nothing of the server any more.
    this.break = () => undefined;
    const ended = connection.endSession().catch(() => undefined);
    const late = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, END_MS);
      this.run.hold(() => clearTimeout(timer));
    });
    await Promise.race([ended, late]);
  }

  private failureIn(error: unknown): unknown {
    const { SdkHttpError, ProtocolError } = this.sdk;
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof SdkHttpError) return statusFailure(error.status);
    if (error instanceof ProtocolError)
      return new ProbeFailure('contract', `${this.call} failed: ${message}`);
    return new ProbeFailure('wrong_answer', message);
  }
}

function discovered(connection: McpConnection): string {
  return `server/discover: ${connection.supportedVersions.join(', ')}`;
}
