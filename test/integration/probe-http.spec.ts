import { AddressGuard } from '../../src/platform/outbound/address-guard.js';
import { Lookups } from '../../src/platform/outbound/lookups.js';
import { Credentials } from '../../src/platform/outbound/credentials.js';
import type { ProbeLimits } from '../../src/probe/prober.js';
import { httpProber } from '../../src/probe/probers/http.js';
import { tcpProber } from '../../src/probe/probers/tcp.js';
import { TEST_CERT, TEST_KEY } from '../support/certificate.js';
import { startHostileHttp, startHostileHttps, startTcp, type TestServer } from '../support/hostile-server.js';
import { CLOSED, noCredentials, OPEN, openGuard, probeOnce } from '../support/probing.js';
import { until } from '../support/until.js';

let server: TestServer;
beforeAll(async () => {
  server = await startHostileHttp();
});
afterAll(() => server.close());
afterEach(() => until('every connection is closed', () => server.open() === 0));

const prober = httpProber(openGuard, noCredentials);
const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;
const http = (path: string, options: object = {}, limits: Partial<ProbeLimits> = {}) =>
  probeOnce(prober, { target: at(path), options }, limits);

const JSON_EXPECTED = { expect: { json: { ok: true, echo: 'reachable' } } };

describe('what is as it should be', () => {
  it.each([
    ['a status', '/ok', {}],
    ['the body', '/ok', JSON_EXPECTED],
    ['a part of the body', '/html', { expect: { body_contains: 'works' } }],
    ['a compressed body', '/gzip', JSON_EXPECTED],
    ['another status, named', '/status/503', { expect: { status: [503] } }],
    ['a redirect, named', '/redirect', { expect: { status: [302] } }],
    ['HEAD', '/html', { method: 'HEAD' }],
    ['POST', '/ok', { method: 'POST', body: '{}' }],
  ])('%s', async (_, path, options) => {
    expect(await http(path, options)).toMatchObject({ ok: true, slow: false });
  });

  it('a long page that nobody wants to read', async () => {
    expect(await http('/long')).toMatchObject({
      ok: true,
      detail: expect.stringContaining('not read to its end'),
    });
  });

  it('a late answer is slow', async () => {
    const slow = await probeOnce(prober, { target: at('/slow'), slow_ms: 20 });
    expect(slow).toMatchObject({ ok: true, slow: true });
    expect(slow.latencyMs).toBeGreaterThan(50);
  });
});

describe('what is not', () => {
  it.each([
    ['/status/401', 'unauthorized', {}],
    ['/status/403', 'unauthorized', {}],
    ['/status/404', 'contract', {}],
    ['/status/429', 'contract', {}],
    ['/redirect', 'contract', {}],
    ['/status/500', 'server_error', {}],
    ['/status/503', 'server_error', {}],
    ['/ok', 'wrong_answer', { expect: { status: [204] } }],
    ['/wrong', 'wrong_answer', JSON_EXPECTED],
    ['/html', 'wrong_answer', JSON_EXPECTED],
    ['/html', 'wrong_answer', { expect: { body_contains: 'moved' } }],
    ['/no-gzip', 'wrong_answer', JSON_EXPECTED],
    ['/rot13', 'wrong_answer', JSON_EXPECTED],
    ['/garbage', 'wrong_answer', {}],
    ['/long', 'too_large', { expect: { body_contains: 'z' } }],
    ['/flood', 'too_large', JSON_EXPECTED],
    ['/gzip-bomb', 'too_large', JSON_EXPECTED],
    ['/brotli-bomb', 'too_large', JSON_EXPECTED],
    ['/header-flood', 'too_large', {}],
    ['/cut', 'closed', {}],
    ['/close', 'closed', {}],
    ['/reset', 'closed', {}],
  ])('%s is %s', async (path, fault, options) => {
    expect(await http(path, options)).toMatchObject({ ok: false, fault });
  });

  it('hangs after it took the connection', async () => {
    const result = await http('/hang', {}, { firstByteMs: 50 });
    expect(result).toMatchObject({ ok: false, fault: 'first_byte_timeout' });
  });

  it.each(['/drip', '/header-drip'])('%s without end', async (path) => {
    const result = await http(path, {}, { firstByteMs: 100, totalMs: 300 });
    expect(result).toMatchObject({ ok: false, fault: 'total_timeout', detail: 'not done in 300 ms' });
    expect(result.latencyMs).toBeGreaterThan(290);
  });

  it('is a redirect whose secret is not repeated', async () => {
    const result = await http('/redirect');
    expect(result.detail).toBe('HTTP 302: redirects are not followed (to /ok)');
  });
});

it('takes a flood, a bomb and endless headers in little memory', async () => {
  const rise = async (path: string, options: object) => {
    await http(path, options);
    const before = process.memoryUsage().rss;
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss - before)), 1);
    await http(path, options);
    clearInterval(timer);
    return most;
  };
  // The server is in this process and makes the flood: the bomb of 200 MB is the honest measure.
  await rise('/gzip', JSON_EXPECTED);
  expect(await rise('/header-flood', {})).toBeLessThan(10_000_000);
  expect(await rise('/flood', JSON_EXPECTED)).toBeLessThan(10_000_000);
});

describe('connecting', () => {
  const closed = httpProber(new AddressGuard(CLOSED), noCredentials);
  const naming = (names: Record<string, string[][]>) => {
    const asked: string[] = [];
    const lookups = new Lookups(async (host) => {
      asked.push(host);
      const turns = names[host] ?? [];
      return (turns.length > 1 ? turns.shift() : turns[0]) ?? [];
    });
    return { lookups, asked };
  };

  it('is refused', async () => {
    const gone = await startTcp(() => undefined);
    await gone.close();
    for (const probe of [
      probeOnce(prober, { target: `http://127.0.0.1:${gone.port}/` }),
      probeOnce(tcpProber(openGuard), { target: `127.0.0.1:${gone.port}` }),
    ])
      expect(await probe).toMatchObject({ ok: false, fault: 'refused' });
  });

  it('finds no such name', async () => {
    const result = await probeOnce(prober, { target: 'http://nowhere.invalid/' });
    expect(result).toMatchObject({ ok: false, fault: 'dns' });
  });

  it('waits for a name no longer than for a connection', async () => {
    const guard = new AddressGuard(OPEN, new Lookups(() => new Promise(() => undefined)));
    const probers = [httpProber(guard, noCredentials), httpProber(guard, noCredentials)];
    const hanging = probers.map((p, n) => probeOnce(p, { target: `http://h${n}.test/` }, { connectMs: 50 }));
    const behind = await probeOnce(
      httpProber(guard, noCredentials),
      { target: 'http://x.test/' },
      { connectMs: 50 },
    );
    for (const result of await Promise.all(hanging)) expect(result).toMatchObject({ fault: 'dns' });
    // Ours to blame, not its.
    expect(behind).toMatchObject({ fault: 'misconfigured' });
  });

  it.each(['127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '127.1', '[::ffff:127.0.0.1]', 'localhost'])(
    'is denied to %s where this machine is closed, whatever it is called',
    async (host) => {
      const made = server.made();
      const result = await probeOnce(closed, { target: `http://${host}:${server.port}/ok` });
      expect(result).toMatchObject({ ok: false, fault: 'address_denied' });
      const tcp = tcpProber(new AddressGuard(CLOSED));
      expect(await probeOnce(tcp, { target: `${host}:${server.port}` })).toMatchObject({
        fault: 'address_denied',
      });
      expect(server.made()).toBe(made);
    },
  );

  it('goes to what was judged, though the name points elsewhere a moment later', async () => {
    const { lookups, asked } = naming({ 'rebind.test': [['127.0.0.1'], ['169.254.169.254']] });
    const probers = httpProber(new AddressGuard(OPEN, lookups), noCredentials);
    const target = `http://rebind.test:${server.port}/ok`;
    expect(await probeOnce(probers, { target })).toMatchObject({ ok: true });
    expect(asked).toHaveLength(1);
    expect(await probeOnce(probers, { target })).toMatchObject({ fault: 'address_denied' });
  });

  it('passes over the addresses of a name that are denied or refuse', async () => {
    const { lookups } = naming({ 'many.test': [['169.254.169.254', '127.0.0.2', '127.0.0.1']] });
    const probers = httpProber(new AddressGuard(OPEN, lookups), noCredentials);
    const result = await probeOnce(probers, { target: `http://many.test:${server.port}/ok` });
    expect(result).toMatchObject({ ok: true });
  });

  it('is called off', async () => {
    const off = new AbortController();
    const probe = probeOnce(prober, { target: at('/hang') }, {}, off.signal);
    await until('it is connected', () => server.open() === 1);
    off.abort();
    expect(await probe).toMatchObject({ ok: false, fault: 'misconfigured' });
  });
});

describe('TLS', () => {
  let secure: TestServer;
  beforeAll(async () => {
    secure = await startHostileHttps(TEST_KEY, TEST_CERT);
  });
  afterAll(() => secure.close());
  const both = (tls?: string) => [
    probeOnce(prober, { target: `https://localhost:${secure.port}/ok`, options: { ...(tls && { tls }) } }),
    probeOnce(tcpProber(openGuard), {
      target: `localhost:${secure.port}`,
      options: { tls: tls ?? 'verify' },
    }),
  ];

  it('is not trusted when the certificate is nobody’s', async () => {
    for (const result of await Promise.all(both()))
      expect(result).toMatchObject({
        ok: false,
        fault: 'tls',
        detail: expect.stringContaining('SELF_SIGNED'),
      });
  });

  it('is taken as it is when asked to', async () => {
    for (const result of await Promise.all(both('insecure'))) expect(result).toMatchObject({ ok: true });
  });

  it('is missing where it should be', async () => {
    const target = `https://127.0.0.1:${server.port}/ok`;
    expect(await probeOnce(prober, { target })).toMatchObject({ ok: false, fault: 'tls' });
  });

  it('is never finished', async () => {
    const silent = await startTcp(() => undefined);
    const target = `https://127.0.0.1:${silent.port}/`;
    const result = await probeOnce(prober, { target }, { connectMs: 60 });
    expect(result).toMatchObject({ ok: false, fault: 'connect_timeout' });
    await until('the connection is closed', () => silent.open() === 0);
    await silent.close();
  });
});

describe('credentials', () => {
  const env = {
    REACH_CREDENTIAL_RIGHT: 'right-secret',
    REACH_CREDENTIAL_WRONG: 'wrong-secret',
    REACH_CREDENTIAL_PINNED: 'right-secret',
    REACH_CREDENTIAL_PINNED__HOSTS: 'api.example.com, *.corp.example',
    DATABASE_URL: 'postgres://u:right-secret@db/x',
  };
  const knowing = httpProber(openGuard, new Credentials('', env));
  const show = (credential: string, path = '/protected') =>
    probeOnce(knowing, { target: at(path), credential });

  it('are shown to the target', async () => {
    expect(await show('env:REACH_CREDENTIAL_RIGHT')).toMatchObject({ ok: true });
    expect(await show('env:REACH_CREDENTIAL_WRONG')).toMatchObject({ ok: false, fault: 'unauthorized' });
  });

  it('are shown in the query where no header can carry them, and stay out of what is told', async () => {
    const ask = (path: string, name: string) =>
      probeOnce(knowing, {
        target: at(path),
        credential: `env:REACH_CREDENTIAL_${name}`,
        options: { credential_query: 'api_key', expect: { json: { ok: 1 } } },
      });
    expect(await ask('/protected-query?a=1', 'WRONG')).toMatchObject({ fault: 'unauthorized' });
    // It was let in, and what came was another thing.
    expect(await ask('/protected-query?a=1', 'RIGHT')).toMatchObject({ fault: 'wrong_answer' });
    const told = await ask('/echo-secret', 'RIGHT');
    expect(told).toMatchObject({ fault: 'wrong_answer', detail: expect.stringContaining('***') });
    expect(JSON.stringify(told)).not.toContain('right-secret');
  });

  it('are ours to have: a missing one counts against nobody', async () => {
    expect(await show('env:REACH_CREDENTIAL_GONE')).toMatchObject({
      fault: 'misconfigured',
      detail: 'the dispatcher has no credential env:REACH_CREDENTIAL_GONE',
    });
    expect(await show('file:gone')).toMatchObject({ fault: 'misconfigured' });
  });

  it('go only to the hosts that they are for', async () => {
    const made = server.made();
    expect(await show('env:REACH_CREDENTIAL_PINNED')).toMatchObject({ fault: 'misconfigured' });
    expect(server.made()).toBe(made);
  });

  it('do not come back in what is shown of an answer', async () => {
    const result = await probeOnce(knowing, {
      target: at('/echo-secret'),
      credential: 'env:REACH_CREDENTIAL_RIGHT',
      options: { expect: { json: { ok: true } } },
    });
    expect(result).toMatchObject({ fault: 'wrong_answer', detail: expect.stringContaining('Bearer ***') });
  });
});
