import { execFileSync } from 'node:child_process';
import { curl } from './curl.js';

const origin = 'http://127.0.0.1:8080';

test('a question is one line, and names no token', () => {
  expect(curl(origin, { method: 'GET', path: '/api/v1/agents?a=b&c=d', token: true })).toBe(
    `curl -sS -H "Authorization: Bearer $REACH_TOKEN" '${origin}/api/v1/agents?a=b&c=d'`,
  );
});

test('a shell gives curl exactly the body, whatever is in it', () => {
  const body = { capability: 'it\'s $(touch /tmp/x) `id` \\ \n "quoted"' };
  const line = curl(origin, { method: 'POST', path: '/api/v1/tasks', body, token: false });
  const sent = execFileSync('sh', ['-c', line.replace(/^curl .*? -d /, "printf '%s\\n' ")], {
    encoding: 'utf8',
  });
  expect(JSON.parse(sent.split('\nhttp:')[0] ?? '')).toEqual(body);
});
