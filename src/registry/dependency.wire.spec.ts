import { dependency } from './dependency.wire.js';

const issues = (declared: object) => {
  const read = dependency.safeParse({ name: 'it', ...declared });
  return read.success ? [] : read.error.issues.map((issue) => `${issue.path.join('/')}: ${issue.message}`);
};

it.each([
  { type: 'http', target: 'https://api.example.com/v1?x=1' },
  { type: 'http' },
  { type: 'http', target: 'http://x?keyword=a&sort_key=b&tokens=3' },
  { type: 'http', target: 'http://x', credential: 'file:a', options: { credential_query: 'api_key' } },
  { type: 'http', target: 'http://[::1]:8080/', credential: 'env:REACH_CREDENTIAL_API' },
  { type: 'http', target: 'http://x', options: { method: 'POST', body: '{}', expect: { json: { a: [1] } } } },
  { type: 'tcp', target: 'mail.internal:25' },
  { type: 'tcp', target: '[::ffff:10.0.0.1]:25', options: { tls: 'verify' } },
  { type: 'tcp', target: '10.0.0.1:80' },
  { type: 'postgres', target: 'postgres://reach@db.internal:5432/app', credential: 'file:db/password' },
  { type: 'postgres', target: 'postgresql://db' },
  { type: 'mysql', target: 'mysql://db/app', options: { tls: 'insecure' } },
  { type: 'redis', target: 'rediss://user@cache:6380/3' },
  { type: 'nats', target: 'nats://bus' },
  { type: 'agent', target: 'summarizer-1' },
  { type: 'mcp', target: 'https://tools.example.com/mcp' },
  { type: 'a2a', target: 'https://agents.example.com' },
])('takes $type $target', (declared) => expect(issues(declared)).toEqual([]));

it.each([
  [{ type: 'smtp' }, 'type: '],
  [{ type: 'http', target: 'ftp://x' }, 'target: must be an http or https URL'],
  [
    { type: 'http', target: 'http://u:p@x' },
    'target: must not hold a user or password: name it as credential',
  ],
  [
    { type: 'http', target: 'http://x?api_key=1' },
    'must not hold a secret (query parameter api_key): name it',
  ],
  [{ type: 'a2a', target: 'http://x?X-Amz-Signature=1' }, 'a secret (query parameter X-Amz-Signature)'],
  [{ type: 'mcp', target: 'http://x?a=1&accessToken=1' }, 'a secret (query parameter accessToken)'],
  [
    {
      type: 'http',
      target: 'http://x',
      options: { credential_query: 'key', credential_scheme: 'bearer' },
    },
    'options/credential_query: not together with',
  ],
  [{ type: 'http', target: 'http://x', options: { expct: {} } }, 'options: Unrecognized key: "expct"'],
  [{ type: 'http', target: 'http://x', options: { body: '{}' } }, 'options/body: needs the method POST'],
  [
    { type: 'http', target: 'http://x', options: { headers: { Authorization: 'x' } } },
    'options/headers/Authorization: ',
  ],
  [{ type: 'http', target: 'http://x', options: { headers: { Host: 'x' } } }, 'options/headers/Host: '],
  [{ type: 'http', target: 'http://x', options: { headers: { a: 'x\r\ny: z' } } }, 'options/headers/a: '],
  [{ type: 'tcp', target: 'mail.internal' }, 'target: must look like host:port'],
  [{ type: 'tcp', target: 'mail.internal:0' }, 'target: must look like host:port'],
  [{ type: 'tcp', target: 'u@mail.internal:25/x' }, 'target: must look like host:port'],
  [{ type: 'postgres', target: 'postgres://u:p@db/x' }, 'target: must not hold a password'],
  [{ type: 'postgres', target: 'mysql://u@db/x' }, 'target: must look like postgres://'],
  [{ type: 'postgres', target: 'postgres://db/x?sslmode=disable' }, 'target: must look like postgres://'],
  [{ type: 'postgres', target: 'postgres:///x' }, 'target: must look like postgres://'],
  [{ type: 'redis', target: 'redis://cache/x' }, 'target: must look like redis://'],
  [{ type: 'redis', target: 'redis://:p@cache/1' }, 'target: must not hold a password'],
  [{ type: 'nats', target: 'nats://bus/x' }, 'target: must look like nats://'],
  [{ type: 'redis', credential: 'hunter2' }, 'credential: must be env:REACH_CREDENTIAL_'],
  [{ type: 'redis', credential: 'env:DATABASE_URL' }, 'credential: must be env:REACH_CREDENTIAL_'],
  [{ type: 'redis', credential: 'env:REACH_AUTH_TOKENS' }, 'credential: must be env:REACH_CREDENTIAL_'],
  [{ type: 'redis', credential: 'file:/etc/shadow' }, 'credential: must be env:REACH_CREDENTIAL_'],
  [{ type: 'redis', credential: 'file:a/../../b' }, 'credential: must be env:REACH_CREDENTIAL_'],
  [{ type: 'redis', credential: 'file:..' }, 'credential: must be env:REACH_CREDENTIAL_'],
])('refuses %j', (declared, why) => expect(issues(declared)).toEqual([expect.stringContaining(why)]));

it('does not repeat a secret that it refuses', () => {
  expect(issues({ type: 'postgres', target: 'postgres://u:hunter2@db/x' }).join()).not.toContain('hunter2');
  expect(issues({ type: 'redis', credential: 'hunter2' }).join()).not.toContain('hunter2');
  expect(issues({ type: 'http', target: 'http://x?key=hunter2' }).join()).not.toContain('hunter2');
});
