import { Agent } from '@agent-reach/sdk';
import { createRemoteJWKSet, decodeJwt, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { PushEndpoint } from '../support/push-endpoint.js';
import { RawSession } from '../support/raw-session.js';

const NEEDS = [
  { name: 'vault', type: 'http' },
  { name: 'search', type: 'tcp' },
];
const introspected = async (api: Api, token: string): Promise<Json> => {
  const answers = await Promise.all(
    api.each().map((one) => one.call('POST', '/api/v1/tokens/introspect', { token })),
  );
  for (const answer of answers) expect(answer.status).toBe(200);
  const [first] = answers;
  for (const { body } of answers) expect(body).toEqual(first?.body);
  return first?.body;
};

inBothModes('task tokens', (mode) => {
  const centre = Centre.ofSuite(mode, { env: { REACH_TASK_TOKEN_ISSUER: 'tests' } });

  /** As a dependency checks it that knows nothing but the address of a centre. */
  const checked = async (token: string, audience: string, at = centre.urls[0]) =>
    (
      await jwtVerify(token, createRemoteJWKSet(new URL('/.well-known/jwks.json', at)), {
        issuer: 'tests',
        audience,
      })
    ).payload;

  test('say which task it is, to the dependencies that the agent declared and to nobody else', async () => {
    const api = centre.api();
    const agent = await api.agent('a1', { dependencies: NEEDS });
    const id = await api.submit({ capability: 'work', execution_timeout_ms: 60_000 });
    const offer = await agent.offer();
    for (const url of centre.urls) {
      expect(await checked(offer.token, 'vault', url)).toEqual({
        iss: 'tests',
        sub: id,
        aud: ['vault', 'search'],
        jti: offer.delivery_id,
        exp: Math.ceil((Date.parse(offer.ack_deadline as string) + 60_000) / 1000),
        namespace: api.namespace,
        agent_id: 'a1',
        capability: 'work',
      });
    }
    await expect(checked(offer.token, 'payroll')).rejects.toThrow('unexpected "aud" claim value');
  });

  test('hold while the delivery runs: not before its ACK, not after its end, not once another has the task', async () => {
    const api = centre.api();
    const agent = await api.agent('a1', { dependencies: NEEDS });
    const id = await api.submit({ capability: 'work', idempotent: true });
    const first = await agent.offer();
    expect(await introspected(api, first.token)).toEqual({ active: false });
    await agent.ack(first.delivery_id as string);
    expect(await introspected(api, first.token)).toEqual({
      active: true,
      ...decodeJwt(first.token as string),
    });
    await agent.fail(first.delivery_id as string, { retryable: true });
    expect(await introspected(api, first.token)).toEqual({ active: false });

    const second = await agent.begin();
    expect(await introspected(api, first.token)).toEqual({ active: false });
    expect((await introspected(api, second.token)).jti).toBe(second.delivery_id);
    await agent.complete(second.delivery_id as string);
    await api.ended(id);
    expect(await introspected(api, second.token)).toEqual({ active: false });
  });

  test('of others, or that were tampered with, are told from ours', async () => {
    const api = centre.api();
    const agent = await api.agent('a1', { dependencies: NEEDS });
    await api.submit({ capability: 'work' });
    const { token } = await agent.begin();
    const [header, claims, signature] = (token as string).split('.') as [string, string, string];
    const { privateKey } = await generateKeyPair('EdDSA');
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
    const forged = await new SignJWT(decodeJwt(token as string))
      .setProtectedHeader({ alg: 'EdDSA', kid })
      .sign(privateKey);
    const bare = Buffer.from('{"alg":"none"}').toString('base64url');
    const other = Buffer.from(claims, 'base64url').toString().replace('vault', 'vaulx');
    const altered = `${header}.${Buffer.from(other).toString('base64url')}.${signature}`;
    for (const bad of [
      forged,
      `${bare}.${claims}.`,
      altered,
      'x',
      'a.b.c',
      `${header}.${claims}.${'A'.repeat(86)}`,
    ])
      expect(await introspected(api, bad)).toEqual({ active: false });
    const refused = await api.call('POST', '/api/v1/tokens/introspect', { token: 'x'.repeat(9000) });
    expect(refused.status).toBe(400);
  });

  test('an agent without dependencies gets none', async () => {
    const api = centre.api();
    const agent = await api.agent('a1', {});
    await api.submit({ capability: 'work' });
    expect(await agent.offer()).not.toHaveProperty('token');
  });

  test('come in every way that an offer goes', async () => {
    const api = centre.api();
    const session = await RawSession.register(api, 's1', {
      capabilities: ['by-session'],
      dependencies: NEEDS,
    });
    await api.submit({ capability: 'by-session' });
    const [offer] = await session.offers();
    expect((await checked(offer.token, 'search')).jti).toBe(offer.delivery_id);
    session.cut();
    // What may have been lost with the connection is offered again, with its token.
    const again = await RawSession.resume(api, session);
    expect((await again.offers())[0]).toMatchObject({ delivery_id: offer.delivery_id, token: offer.token });
    await again.close();

    const endpoint = await PushEndpoint.start(api, 'done');
    const url = `http://127.0.0.1:${endpoint.port}/`;
    const push = { capabilities: ['by-push'], transport: 'push', endpoint: url, dependencies: NEEDS };
    await api.agent('p1', push);
    await api.ended(await api.submit({ capability: 'by-push' }));
    expect((await checked(endpoint.offers[0].token, 'vault')).agent_id).toBe('p1');
    await endpoint.stop();
  });

  test('are renewed with the time that a delivery is given', async () => {
    const api = centre.api();
    const agent = await api.agent('a1', { dependencies: NEEDS });
    await api.submit({ capability: 'work', execution_timeout_ms: 5000 });
    const offer = await agent.begin();
    const id = offer.delivery_id as string;
    expect((await agent.progress(id, { note: 'half' })).body).not.toHaveProperty('token');
    const { body } = await agent.progress(id, { extend_ms: 600_000 });
    const { exp, jti } = await checked(body.token, 'vault');
    expect(jti).toBe(id);
    expect(exp).toBe(Math.ceil(Date.parse(body.deadline as string) / 1000));
    expect((await introspected(api, body.token)).active).toBe(true);
  });

  test('the SDK hands them to the handler, the renewed one too', async () => {
    const api = centre.api();
    const seen: (string | undefined)[] = [];
    const agent = new Agent({
      url: centre.urls,
      namespace: api.namespace,
      agentId: 'sdk1',
      dependencies: [{ name: 'vault', type: 'http' }],
      capabilities: {
        work: async (_task, context) => {
          seen.push(context.token);
          await context.progress({ extendMs: 900_000 });
          seen.push(context.token);
        },
      },
    });
    await agent.start();
    await api.ended(await api.submit({ capability: 'work', execution_timeout_ms: 5000 }));
    await agent.stop({ drainMs: 0 });
    const [first, renewed] = seen as [string, string];
    expect((await checked(first, 'vault')).agent_id).toBe('sdk1');
    expect((await checked(renewed, 'vault')).exp).toBeGreaterThan((await checked(first, 'vault')).exp ?? 0);
  });
});

describe('at a guarded centre', () => {
  const TOKEN = 'a-secret-of-some-length';
  const centre = Centre.ofSuite('embedded', { env: { REACH_AUTH_TOKENS: TOKEN } });

  test('anybody may read the keys, and a task token opens nothing of the API', async () => {
    const api = centre.api();
    const authorization = `Bearer ${TOKEN}`;
    const namespace = api.namespace;
    const post = async (path: string, body: object) =>
      (await api.call('POST', `/api/v1/${path}`, { namespace, ...body }, { authorization })).body;
    const needs = { agent_id: 'a1', capabilities: ['work'], dependencies: NEEDS };
    const { lease_id } = await post('agent/register', needs);
    await post('tasks', { capability: 'work' });
    const claimed = await post('deliveries/claim', { agent_id: 'a1', lease_id, wait_ms: 10_000 });
    const [{ token }] = claimed.deliveries as [{ token: string }];
    expect((await api.call('GET', '/.well-known/jwks.json')).body.keys).toHaveLength(1);
    for (const [method, path] of [
      ['GET', 'agents'],
      ['GET', 'tasks'],
      ['POST', 'tokens/introspect'],
    ] as const) {
      const body = method === 'POST' ? { token } : undefined;
      const answer = await api.call(method, `/api/v1/${path}`, body, { authorization: `Bearer ${token}` });
      expect(answer.status).toBe(401);
    }
  });
});
