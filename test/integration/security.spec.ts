import 'reflect-metadata';
import { Controller, Post } from '@nestjs/common';
import { type TestApp, testApp } from '../support/http-app.js';

const TOKEN = 'a-token-of-some-length';
let calls = 0;

@Controller('guarded')
class GuardedController {
  @Post()
  call() {
    calls++;
    return {};
  }
}

let server: TestApp;
beforeAll(async () => {
  server = await testApp(
    { controllers: [GuardedController] },
    { REACH_AUTH_TOKENS: `other-token-000000,${TOKEN}` },
  );
});
afterAll(() => server.close());

const post = (headers: Record<string, string>, body = '{}') =>
  fetch(`${server.url}/api/v1/guarded`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

test('a good token gets through', async () => {
  expect((await post({ authorization: `Bearer ${TOKEN}` })).status).toBe(201);
});

test('without one: 401 as a problem, before the body is even looked at', async () => {
  const before = calls;
  const answer = await post({}, '{ this is not JSON');
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  expect(await answer.json()).toMatchObject({ code: 'REACH_UNAUTHENTICATED', retryable: false });
  expect(calls).toBe(before);
});

test.each(['/livez', '/readyz', '/startupz', '/readyz?verbose=1'])(
  '%s answers without a token',
  async (url) => {
    expect((await fetch(server.url + url)).status).toBe(200);
  },
);

test.each(['/metrics', '/api/docs', '/api/openapi.json', '/livez/', '/nowhere', '//livez'])(
  '%s needs one',
  async (url) => {
    expect((await fetch(server.url + url)).status).toBe(401);
  },
);
