import 'reflect-metadata';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestApp, testApp } from '../support/http-app.js';

const TOKEN = 'a-token-of-some-length';
const SCRIPT = '/assets/index-AbCd1234.js';
const folder = mkdtempSync(join(tmpdir(), 'reach-console-'));
const page = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

let server: TestApp;
beforeAll(async () => {
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>the console</title>');
  writeFileSync(join(folder, SCRIPT), 'console.log(1);'.repeat(100));
  server = await testApp({}, { REACH_AUTH_TOKENS: TOKEN }, folder);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers });

test.each(['/', '/tasks/01a229bb-e66c-7011-8831-4f8212611e03?ns=x', '/agents/a.b', '/api-like'])(
  'a browser that opens %s gets the page, without a token, and asks again next time',
  async (path) => {
    const answer = await get(path, page);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(await answer.text()).toContain('the console');
    const again = await get(path, { ...page, 'if-none-match': answer.headers.get('etag') as string });
    expect([again.status, await again.text()]).toEqual([304, '']);
  },
);

test('a policy forbids whatever is not a file of the console', async () => {
  const { headers } = await get('/', page);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(policy).not.toMatch(/unsafe|\*/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
});

test('a file with its digest in the name is kept for good, and travels compressed', async () => {
  const plain = await get(SCRIPT, { 'accept-encoding': 'identity, br;q=0' });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.headers.get('content-type')).toMatch(/^text\/javascript/);
  expect(plain.headers.get('cache-control')).toContain('immutable');
  for (const encoding of ['gzip', 'br']) {
    const answer = await get(SCRIPT, { 'accept-encoding': encoding });
    expect(answer.headers.get('content-encoding')).toBe(encoding);
    expect(Number(answer.headers.get('content-length'))).toBeLessThan(200);
    expect(await answer.text()).toHaveLength(1500);
  }
});

test.each(['/assets/gone.js', '/assets/..%2f..%2fpackage.json', '/api', '/api/v1/nowhere'])(
  '%s is no page: 401 as before, and 404 as a problem with a token',
  async (path) => {
    expect((await get(path, page)).status).toBe(401);
    const answer = await get(path, { ...page, authorization: `Bearer ${TOKEN}` });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: 'REACH_NOT_FOUND' });
  },
);

test('whoever asks for no page gets no page, and POST none either', async () => {
  expect((await get('/nowhere')).status).toBe(401);
  expect((await fetch(`${server.url}/`, { method: 'POST', headers: page })).status).toBe(401);
});

test('without a build there is a page that says how to make one', async () => {
  const bare = await testApp({}, {}, mkdtempSync(join(folder, 'empty-')));
  try {
    const answer = await fetch(bare.url, { headers: page });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('npm run build');
  } finally {
    await bare.close();
  }
});
