import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { a2aProber, cardOf } from '../../src/probe/probers/a2a.js';
import { mcpProber } from '../../src/probe/probers/mcp.js';
import { noCredentials, openGuard, probeOnce } from '../support/probing.js';

interface Call {
  method: string;
  path: string;
  rpc: { id?: number; method?: string; params?: Record<string, unknown> };
  headers: IncomingMessage['headers'];
}
type Answer = (call: Call, res: ServerResponse) => void;

/** An HTTP server that answers each call as `answer` says, and remembers the calls. */
async function serving(answer: Answer, test: (url: string, calls: Call[]) => Promise<void>): Promise<void> {
  const calls: Call[] = [];
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () => {
      const rpc = (body === '' ? {} : JSON.parse(body)) as Call['rpc'];
      const call = { method: req.method ?? '', path: req.url ?? '', rpc, headers: req.headers };
      calls.push(call);
      answer(call, res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await test(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const json = (res: ServerResponse, body: object, headers: Record<string, string> = {}, status = 200) =>
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const result = ({ rpc }: Call, value: object) => ({ jsonrpc: '2.0', id: rpc.id, result: value });
const failure = ({ rpc }: Call, code: number, message: string, data?: object) => ({
  jsonrpc: '2.0',
  id: rpc.id,
  error: { code, message, data },
});
const DISCOVERED = { supportedVersions: ['2026-07-28'], capabilities: {}, ttlMs: 0, cacheScope: 'private' };

/** A server of the revisions before 2026, with sessions. */
const legacy: Answer = (call, res) => {
  const session = { 'mcp-session-id': 's1' };
  if (call.method === 'DELETE') return void res.writeHead(204).end();
  switch (call.rpc.method) {
    case 'initialize':
      return void json(res, result(call, { protocolVersion: '2025-06-18', capabilities: {} }), session);
    case 'notifications/initialized':
      return void res.writeHead(call.headers['mcp-session-id'] === 's1' ? 202 : 400).end();
    case 'ping':
      return void json(res, result(call, {}));
    default:
      return void json(res, failure(call, -32000, 'Bad Request: Server not initialized'), {}, 400);
  }
};

describe('MCP', () => {
  const prober = mcpProber(openGuard, noCredentials);
  const ask = (url: string, limits = {}) => probeOnce(prober, { target: `${url}/mcp` }, limits);

  it('discovers a server of 2026, with one call and the headers that it must have', () =>
    serving(
      (call, res) => json(res, result(call, DISCOVERED)),
      async (url, calls) => {
        expect(await ask(url)).toMatchObject({ ok: true, detail: 'server/discover: 2026-07-28' });
        expect(calls).toHaveLength(1);
        expect(calls[0]).toMatchObject({
          rpc: {
            method: 'server/discover',
            params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
          },
          headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' },
        });
      },
    ));

  it('takes the reply out of a stream of events that never ends', () =>
    serving(
      (call, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(': hello\n\nevent: message\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\n\n');
        res.write(`data: ${JSON.stringify(result(call, DISCOVERED))}\n\n`);
      },
      async (url) => expect(await ask(url)).toMatchObject({ ok: true }),
    ));

  it('greets an older server, and ends the session', () =>
    serving(legacy, async (url, calls) => {
      expect(await ask(url)).toMatchObject({ ok: true, detail: 'initialize and ping: 2025-06-18' });
      expect(calls.map((call) => call.rpc.method ?? call.method)).toEqual([
        'server/discover',
        'initialize',
        'notifications/initialized',
        'ping',
        'DELETE',
      ]);
      expect(calls.slice(2).map((call) => call.headers['mcp-session-id'])).toEqual(['s1', 's1', 's1']);
    }));

  it('takes a server of 2026 that wants another version for one that is there', () =>
    serving(
      (call, res) => json(res, failure(call, -32022, 'unsupported', { supported: ['2027-01-01'] }), {}, 400),
      async (url) =>
        expect(await ask(url)).toMatchObject({ ok: true, detail: 'server/discover: 2027-01-01' }),
    ));

  it.each<[string, Answer, string]>([
    ['401', (_, res) => res.writeHead(401).end(), 'unauthorized'],
    ['404', (_, res) => res.writeHead(404).end(), 'contract'],
    ['500', (_, res) => res.writeHead(500).end(), 'server_error'],
    ['a redirect', (_, res) => res.writeHead(307, { location: '/x' }).end(), 'contract'],
    ['a page', (_, res) => res.end('<html>'), 'wrong_answer'],
    [
      'another reply',
      (call, res) => json(res, { jsonrpc: '2.0', id: 99, result: call.headers }),
      'wrong_answer',
    ],
    ['no versions', (call, res) => json(res, result(call, {})), 'wrong_answer'],
    ['a refusal of both', (call, res) => json(res, failure(call, -32601, 'Method not found')), 'contract'],
  ])('fails at %s', (_, answer, fault) =>
    serving(answer, async (url) => expect(await ask(url)).toMatchObject({ ok: false, fault })),
  );

  it('fails at a stream that floods', () =>
    serving(
      (_, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        const more = () => {
          while (!res.destroyed && res.write(`data: ${'x'.repeat(10_000)}`));
          if (!res.destroyed) res.once('drain', more);
        };
        more();
      },
      async (url) => expect(await ask(url)).toMatchObject({ ok: false, fault: 'too_large' }),
    ));
});

describe('A2A', () => {
  const prober = a2aProber(openGuard, noCredentials);
  const ask = (url: string) => probeOnce(prober, { target: url });

  it.each([
    ['https://a.test', 'https://a.test/.well-known/agent-card.json'],
    ['https://a.test/agents/one/', 'https://a.test/agents/one/.well-known/agent-card.json'],
    ['https://a.test/cards/one.json', 'https://a.test/cards/one.json'],
  ])('looks for the card of %s', (target, card) => expect(cardOf(target)).toBe(card));

  it.each([
    ['before 1.0', { name: 'Translator', url: 'https://a.test/a2a', protocolVersion: '0.3.0' }],
    ['since 1.0', { name: 'Translator', supportedInterfaces: [{ url: 'https://a.test/a2a' }] }],
  ])('knows a card as they were %s', (_, card) =>
    serving(
      (call, res) => json(res, card, {}, call.path === '/.well-known/agent-card.json' ? 200 : 404),
      async (url) => expect(await ask(url)).toMatchObject({ ok: true, detail: 'card of Translator' }),
    ),
  );

  it.each<[string, Answer, string]>([
    ['404', (_, res) => res.writeHead(404).end(), 'contract'],
    ['403', (_, res) => res.writeHead(403).end(), 'unauthorized'],
    ['a page', (_, res) => res.end('<html>'), 'wrong_answer'],
    ['null', (_, res) => res.end('null'), 'wrong_answer'],
    ['a card without a place', (_, res) => json(res, { name: 'x' }), 'wrong_answer'],
  ])('fails at %s', (_, answer, fault) =>
    serving(answer, async (url) => expect(await ask(url)).toMatchObject({ ok: false, fault })),
  );
});
