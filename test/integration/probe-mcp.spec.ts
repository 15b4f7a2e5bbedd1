import { AddressGuard } from '../../src/platform/outbound/address-guard.js';
import { Credentials } from '../../src/platform/outbound/credentials.js';
import { Lookups } from '../../src/platform/outbound/lookups.js';
import { mcpProber } from '../../src/probe/probers/mcp.js';
import { startHostileHttp, type TestServer } from '../support/hostile-server.js';
import { CLOSED, noCredentials, OPEN, openGuard, probeOnce } from '../support/probing.js';
import { type Answer, type Call, json, serving } from '../support/rpc-server.js';
import { until } from '../support/until.js';

const result = ({ rpc }: Call, value: object) => ({ jsonrpc: '2.0', id: rpc.id, result: value });
const failure = ({ rpc }: Call, code: number, message: string, data?: object) => ({
  jsonrpc: '2.0',
  id: rpc.id,
  error: { code, message, data },
});
const DISCOVERED = { supportedVersions: ['2026-07-28'], capabilities: {}, ttlMs: 0, cacheScope: 'private' };

const GREETING = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  serverInfo: { name: 'old', version: '1' },
};

/** A server of the revisions before 2026, with sessions. */
const legacy: Answer = (call, res) => {
  const session = { 'mcp-session-id': 's1' };
  if (call.method === 'DELETE') return void res.writeHead(204).end();
  switch (call.rpc.method) {
    case 'initialize':
      return void json(res, result(call, GREETING), session);
    case 'notifications/initialized':
      return void res.writeHead(call.headers['mcp-session-id'] === 's1' ? 202 : 400).end();
    case 'ping':
      return void json(res, result(call, {}));
    default:
      return void json(res, failure(call, -32000, 'Bad Request: Server not initialized'), {}, 400);
  }
};

const prober = mcpProber(openGuard, noCredentials);
const ask = (url: string, limits = {}) => probeOnce(prober, { target: `${url}/mcp` }, limits);

describe('a server', () => {
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
      // No stream is opened for what the server may say later.
      expect(calls.filter((call) => call.method === 'GET')).toEqual([]);
      expect(calls.slice(0, 2).map((call) => call.headers['mcp-session-id'])).toEqual([undefined, undefined]);
      expect(calls.slice(2).map((call) => call.headers['mcp-protocol-version'])).toEqual([
        '2025-06-18',
        '2025-06-18',
        '2025-06-18',
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

/** Opens a stream of events with what stands in `events`, and leaves it open. */
const stream = (res: Parameters<Answer>[1], ...events: object[]) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  return res;
};

describe('what the SDK would do, and a probe must not', () => {
  it('takes every answer of an older server out of streams that never end', () =>
    serving(
      (call, res) => {
        if (call.rpc.method === 'initialize') {
          res.setHeader('mcp-session-id', 's1');
          return void stream(res, result(call, GREETING));
        }
        if (call.rpc.method === 'ping') return void stream(res, result(call, {}));
        legacy(call, res);
      },
      async (url) => expect(await ask(url)).toMatchObject({ ok: true }),
    ));

  it('answers nothing that a server asks', () =>
    serving(
      (call, res) => {
        const asked = Array.from({ length: 500 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
        if (call.rpc.method === 'ping') return void stream(res, ...asked, result(call, {}));
        legacy(call, res);
      },
      async (url, calls) => {
        expect(await ask(url)).toMatchObject({ ok: true });
        expect(calls).toHaveLength(5);
      },
    ));

  it.each(['', 'id: 7\nretry: 1\n'])('does not come back to a stream that broke off (%j)', (begun) =>
    serving(
      (_, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.end(`${begun}data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n`);
      },
      async (url, calls) => {
        expect(await ask(url)).toMatchObject({
          fault: 'wrong_answer',
          detail: 'the stream of events ended without a reply',
        });
        expect(calls).toHaveLength(1);
      },
    ),
  );

  it('follows no redirect, within the origin neither', () =>
    serving(
      (_, res) => res.writeHead(308, { location: '/other?token=x' }).end(),
      async (url, calls) => {
        expect(await ask(url)).toMatchObject({
          fault: 'contract',
          detail: 'HTTP 308: redirects are not followed (to /other)',
        });
        expect(calls).toHaveLength(1);
      },
    ));

  it.each([
    [401, 'Bearer resource_metadata="http://169.254.169.254/"'],
    [403, 'Bearer error="insufficient_scope", scope="all"'],
  ])('looks for no authorization server after %i', (status, challenge) =>
    serving(
      (_, res) => res.writeHead(status, { 'www-authenticate': challenge }).end(),
      async (url, calls) => {
        expect(await ask(url)).toMatchObject({ fault: 'unauthorized' });
        expect(calls).toHaveLength(1);
      },
    ),
  );

  it('takes what is no JSON in a stream for the wrong answer at once', () =>
    serving(
      (_, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write('data: <html>\n\n');
      },
      async (url) => expect(await ask(url)).toMatchObject({ fault: 'wrong_answer' }),
    ));

  it('greets an older server that falls over the call of the new ones', () =>
    serving(
      (call, res) => (call.rpc.method === 'server/discover' ? res.writeHead(500).end() : legacy(call, res)),
      async (url) =>
        expect(await ask(url)).toMatchObject({ ok: true, detail: 'initialize and ping: 2025-06-18' }),
    ));

  it('takes a server of a revision that the SDK does not know for one that is there', () =>
    serving(
      (call, res) =>
        call.rpc.method === 'server/discover'
          ? json(res, result(call, { ...DISCOVERED, supportedVersions: ['2027-01-01'] }))
          : json(res, failure(call, -32601, 'Method not found'), {}, 404),
      async (url) =>
        expect(await ask(url)).toMatchObject({ ok: true, detail: 'server/discover: 2027-01-01' }),
    ));
});

describe('the end of a session', () => {
  it.each<[string, Answer]>([
    ['is refused', (_, res) => res.writeHead(405).end()],
    ['hangs', () => undefined],
    ['breaks off', (_, res) => res.destroy()],
  ])('does no harm when it %s', (_, end) =>
    serving(
      (call, res) => (call.method === 'DELETE' ? end(call, res) : legacy(call, res)),
      async (url) => expect(await ask(url)).toMatchObject({ ok: true }),
    ),
  );

  it('comes after a failed ping, too', () =>
    serving(
      (call, res) =>
        call.rpc.method === 'ping' ? json(res, failure(call, -32000, 'busy')) : legacy(call, res),
      async (url, calls) => {
        expect(await ask(url)).toMatchObject({ fault: 'contract', detail: 'ping failed: busy' });
        expect(calls.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 's1' } });
      },
    ));
});

describe('a hostile server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startHostileHttp();
  });
  afterAll(() => server.close());
  afterEach(() => until('every connection is closed', () => server.open() === 0));
  const at = (path: string, limits = {}, of = prober) =>
    probeOnce(of, { target: `http://127.0.0.1:${server.port}${path}` }, limits);

  it.each([
    ['/status/503', 'server_error'],
    ['/status/429', 'contract'],
    ['/html', 'wrong_answer'],
    ['/no-gzip', 'wrong_answer'],
    ['/rot13', 'wrong_answer'],
    ['/garbage', 'wrong_answer'],
    ['/flood', 'too_large'],
    ['/gzip-bomb', 'too_large'],
    ['/brotli-bomb', 'too_large'],
    ['/header-flood', 'too_large'],
    ['/cut', 'closed'],
    ['/close', 'closed'],
    ['/reset', 'closed'],
  ])('%s is %s', async (path, fault) => {
    expect(await at(path)).toMatchObject({ ok: false, fault });
  });

  it('hangs after it took the connection', async () => {
    expect(await at('/hang', { firstByteMs: 50 })).toMatchObject({ fault: 'first_byte_timeout' });
  });

  it.each(['/drip', '/header-drip'])('%s without end', async (path) => {
    const result = await at(path, { firstByteMs: 100, totalMs: 300 });
    expect(result).toMatchObject({ fault: 'total_timeout' });
  });

  it('is denied where this machine is closed, and where a name points elsewhere a moment later', async () => {
    const made = server.made();
    const closed = mcpProber(new AddressGuard(CLOSED), noCredentials);
    expect(await at('/ok', {}, closed)).toMatchObject({ fault: 'address_denied' });
    const turns = [['127.0.0.1'], ['169.254.169.254']];
    const lookups = new Lookups(() => Promise.resolve(turns.shift() ?? []));
    const rebound = mcpProber(new AddressGuard(OPEN, lookups), noCredentials);
    // The first call goes to what was judged and is refused; the second is judged anew.
    const target = `http://rebind.test:${server.port}/status/404`;
    expect(await probeOnce(rebound, { target })).toMatchObject({ fault: 'address_denied' });
    expect(server.made()).toBe(made + 1);
  });

  it('does not get its credential shown in what is told', async () => {
    const env = { REACH_CREDENTIAL_RIGHT: 'right-secret' };
    const knowing = mcpProber(openGuard, new Credentials('', env));
    await serving(
      (call, res) => json(res, failure(call, -32000, `no: ${call.headers.authorization}`)),
      async (url) => {
        const told = await probeOnce(knowing, { target: url, credential: 'env:REACH_CREDENTIAL_RIGHT' });
        expect(told).toMatchObject({
          fault: 'contract',
          detail: 'initialize failed: no: Bearer ***',
        });
      },
    );
  });
});
