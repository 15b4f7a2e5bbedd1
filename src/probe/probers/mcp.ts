import type { z } from 'zod';
import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import { mcpDependency } from '../../registry/dependency.wire.js';
import { type Attempt, attempt } from '../client/attempt.js';
import { credentialHeaders } from '../client/http-credential.js';
import type { Credentials } from '../../platform/outbound/credentials.js';
import { judgeStatus } from '../client/http-verdict.js';
import { ProbeFailure } from '../client/probe-failure.js';
import { type HttpAnswer, safeRequest } from '../client/safe-http.js';
import { rpcAnswer, type RpcReply } from '../client/json-rpc.js';
import type { Prober } from '../prober.js';
import { hostPort, keyOfTarget, readTarget, slowMsOf, type Targeted } from './target.js';

type McpTarget = Targeted<z.output<typeof mcpDependency>>;

/** The revision that brought `server/discover`, and the last one before it. */
const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const END_MS = 500;
const CLIENT = { name: 'agent-reach-prober', version: '1.0.0' };

/**
 * Asks a server over Streamable HTTP for what it is: `server/discover`, and where the server does not know
 * that, `initialize` and `ping`, after which the session is ended. Tools are never listed nor called.
 */
export function mcpProber(guard: AddressGuard, credentials: Credentials): Prober<McpTarget> {
  return {
    type: 'mcp',
    parse: (declared) => readTarget(mcpDependency, declared),
    keyOf: keyOfTarget,
    hostOf: (t) => hostPort(t.target),
    probe: (t, limits, signal) =>
      attempt(limits, slowMsOf(t, limits), signal, async (run, secrets) => {
        const headers = { ...t.options.headers, ...(await credentialHeaders(t, credentials, secrets)) };
        const server = new McpServer(guard, t, headers, run);
        return (await server.discover()) ?? (await server.initializeAndPing());
      }),
  };
}

class McpServer {
  constructor(
    private readonly guard: AddressGuard,
    private readonly t: McpTarget,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly run: Attempt,
  ) {}

  /** What a server since 2026 says of itself; undefined: it is an older one. */
  async discover(): Promise<string | undefined> {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': CLIENT,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const answer = await this.post(
      { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: meta } },
      { 'mcp-protocol-version': MODERN, 'mcp-method': 'server/discover' },
    );
    if (isRefused(answer)) judgeStatus(answer);
    const reply = await rpcAnswer(answer, 1).catch((error: unknown) => {
      // An older server refuses with whatever body it likes.
      if (answer.status < 400) throw error;
      return undefined;
    });
    if (reply === undefined) return undefined;
    if ('result' in reply) {
      const versions = (reply.result as { supportedVersions?: unknown } | null)?.supportedVersions;
      if (Array.isArray(versions)) return `server/discover: ${versions.join(', ')}`;
      throw new ProbeFailure('wrong_answer', 'server/discover was answered without supportedVersions');
    }
    // It knows the call and wants another version: it is there, and can be talked to.
    const supported = (reply.error.data as { supported?: unknown } | undefined)?.supported;
    return Array.isArray(supported) && supported.some((v) => typeof v === 'string' && v >= MODERN)
      ? `server/discover: ${supported.join(', ')}`
      : undefined;
  }

  async initializeAndPing(): Promise<string> {
    const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT };
    const answer = await this.post({ jsonrpc: '2.0', id: 2, method: 'initialize', params }, {});
    judgeStatus(answer);
    const { protocolVersion } = (await this.result(answer, 2, 'initialize')) as { protocolVersion?: unknown };
    if (typeof protocolVersion !== 'string')
      throw new ProbeFailure('wrong_answer', 'initialize was answered without protocolVersion');
    const session = answer.headers['mcp-session-id'];
    const headers = {
      'mcp-protocol-version': protocolVersion,
      ...(typeof session === 'string' && { 'mcp-session-id': session }),
    };
    judgeStatus(await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers));
    const pong = await this.post({ jsonrpc: '2.0', id: 3, method: 'ping' }, headers);
    judgeStatus(pong);
    await this.result(pong, 3, 'ping');
    // A server may keep sessions for long: this one is over. One that cannot end them answers 405.
    if (typeof session === 'string') await this.end(headers);
    return `initialize and ping: ${protocolVersion}`;
  }

  /** Its end is a courtesy, so it is given little time. */
  private async end(headers: Readonly<Record<string, string>>): Promise<void> {
    const sent = this.send('DELETE', undefined, headers).catch(() => undefined);
    const late = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, END_MS);
      this.run.hold(() => clearTimeout(timer));
    });
    await Promise.race([sent, late]);
  }

  private async result(answer: HttpAnswer, id: number, method: string): Promise<object> {
    const reply: RpcReply = await rpcAnswer(answer, id);
    if ('error' in reply) throw new ProbeFailure('contract', `${method} failed: ${reply.error.message}`);
    if (typeof reply.result === 'object' && reply.result !== null) return reply.result;
    throw new ProbeFailure('wrong_answer', `${method} was answered without a result`);
  }

  private post(message: object, headers: Readonly<Record<string, string>>): Promise<HttpAnswer> {
    return this.send('POST', JSON.stringify(message), headers);
  }

  private send(
    method: 'POST' | 'DELETE',
    body: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<HttpAnswer> {
    return safeRequest(
      this.guard,
      {
        url: this.t.target,
        method,
        body,
        tls: this.t.options.tls,
        headers: {
          ...this.headers,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          accept: 'application/json, text/event-stream',
          ...headers,
        },
      },
      this.run,
    );
  }
}

/** Statuses that say nothing about the version: the server is not to be talked to at all. */
function isRefused({ status }: HttpAnswer): boolean {
  return status === 401 || status === 403 || status === 407 || (status >= 300 && status < 400);
}
