import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';

/* The built `reach` against a centre that says what the test wants: arguments, output and exit codes. */

const TASK = '01a22996-578b-73b7-bc49-dec1e27541e3';
const AT = '2030-01-01T00:00:00.000Z';

let server: Server;
let url: string;
let answers: Record<string, { status?: number; body: unknown }>;
const seen: { method: string | undefined; path: string; body: string; authorization: string | undefined }[] =
  [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { pathname, search } = new URL(request.url ?? '', 'http://x');
      const body = Buffer.concat(chunks).toString();
      seen.push({
        method: request.method,
        path: pathname + search,
        body,
        authorization: request.headers.authorization,
      });
      const answer = answers[pathname.replace('/api/v1/', '')];
      const missing = { code: 'REACH_NOT_FOUND', detail: `no ${pathname}`, retryable: false };
      response.writeHead(answer ? (answer.status ?? 200) : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer?.body ?? missing));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  answers = {};
  seen.length = 0;
});

interface Run {
  code: number;
  out: string;
  err: string;
}

function reach(args: string[], input = '', env: Record<string, string> = {}): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['dist/cli/main.js', ...args],
      { env: { PATH: process.env['PATH'], REACH_URL: url, ...env }, timeout: 20_000 },
      (error, out, err) => resolve({ code: error ? Number(error.code ?? 99) : 0, out, err }),
    );
    child.stdin?.end(input);
  });
}

const taskWith = (more: object) => ({
  task_id: TASK,
  namespace: 'default',
  state: 'succeeded',
  capability: 'a.b',
  attempt: 1,
  max_attempts: 4,
  created_at: AT,
  run_at: AT,
  deliveries: [],
  payload: null,
  ...more,
});

it('prints tables for people and JSON for scripts', async () => {
  answers['tasks'] = { body: { items: [taskWith({ capability: 'evil\u001b[2J' })] } };
  const table = await reach(['tasks', '--state', 'succeeded', '-n', 'team']);
  expect(table.code).toBe(0);
  expect(table.out).toMatch(new RegExp(`^TASK +STATE.*\n${TASK}  succeeded  evil\ufffd\\[2J`));
  expect(seen[0]?.path).toBe('/api/v1/tasks?namespace=team&limit=200&state=succeeded');
  const json = await reach(['--json', 'tasks']);
  expect(JSON.parse(json.out)).toMatchObject([{ task_id: TASK }]);
});

it.each([
  ['an unknown command', ['nope'], /unknown command/],
  ['an unknown option', ['tasks', '--nope'], /unknown option/],
  ['a bad choice', ['tasks', '--state', 'nope'], /Allowed choices/],
  ['a bad number', ['tasks', '--limit', 'many'], /whole number/],
  ['a bad URL', ['tasks', '--url', 'nowhere'], /is not a URL/],
  ['a task without a target', ['submit'], /say what the task needs/],
  ['a file that is not there', ['submit', '-f', '/nope.json'], /cannot be read/],
  ['watching without a terminal', ['agents', '--watch'], /for terminals/],
  ['retry without a choice', ['retry'], /say which tasks/],
])('exits with 2 for %s', async (_name, args, message) => {
  const run = await reach(args);
  expect(run).toMatchObject({ code: 2, out: '' });
  expect(run.err).toMatch(message);
});

it('says how to start a centre when there is none', async () => {
  const run = await reach(['agents'], '', { REACH_URL: 'http://127.0.0.1:9' });
  expect(run.code).toBe(1);
  expect(run.err).toContain('reach serve');
});

it('explains a refusal, field by field', async () => {
  answers['tasks'] = {
    status: 400,
    body: {
      code: 'REACH_VALIDATION_FAILED',
      detail: 'the request is not valid',
      errors: [{ pointer: '/priority', detail: 'too high' }],
    },
  };
  const run = await reach(['submit', 'a.b', '--token', 'secret']);
  expect(run.code).toBe(1);
  expect(run.err).toBe('reach: the request is not valid (REACH_VALIDATION_FAILED)\n  /priority: too high\n');
  expect(seen[0]?.authorization).toBe('Bearer secret');
});

it('submits, waits, and fails when the task fails', async () => {
  answers['tasks'] = { status: 202, body: { task_id: TASK, state: 'queued', deduplicated: false } };
  answers[`tasks/${TASK}`] = { body: taskWith({ result: { n: 1 } }) };
  const good = await reach(['submit', 'a.b', '-p', '{"x":1}', '--priority', '3', '--wait']);
  expect(good).toMatchObject({ code: 0, out: '{\n  "n": 1\n}\n' });
  expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
    capability: 'a.b',
    payload: { x: 1 },
    priority: 3,
  });
  const error = { code: 'REACH_DEPENDENCY_DOWN', message: 'db away', retryable: true };
  answers[`tasks/${TASK}`] = { body: taskWith({ state: 'failed', error }) };
  const bad = await reach(['submit', 'a.b', '--wait']);
  expect(bad).toMatchObject({ code: 1, out: '' });
  expect(bad.err).toContain('REACH_DEPENDENCY_DOWN: db away');
});

it('submits records from standard input', async () => {
  answers['tasks/batch'] = {
    body: {
      results: [
        { task_id: TASK, state: 'queued', deduplicated: false },
        { error: { code: 'REACH_X', detail: 'bad one', retryable: false } },
      ],
    },
  };
  const run = await reach(['submit', 'a.b', '--file', '-'], '{"x":1}\n{"x":2}\n');
  expect(run).toMatchObject({ code: 1, out: '1 accepted, 1 rejected\n' });
  expect(run.err).toBe('record 2: bad one (REACH_X)\n');
});

it('tells the story of a task', async () => {
  answers[`tasks/${TASK}/explain`] = {
    body: {
      task_id: TASK,
      state: 'failed',
      headline: 'failed: db away',
      story: [
        { position: 1, at: AT, kind: 'accepted', text: 'accepted for a.b' },
        { position: 2, at: '2030-01-01T00:00:02.000Z', kind: 'ended', text: 'the task failed' },
      ],
      attributions: [
        {
          code: 'REACH_DEPENDENCY_DOWN',
          blame: 'dependency',
          dependency: 'db',
          agent_id: 'x',
          attempt: 1,
          final: true,
          message: 'db is away',
        },
      ],
    },
  };
  const { out, code } = await reach(['why', TASK]);
  expect(code).toBe(0);
  expect(out).toBe(
    [
      `Task ${TASK} failed`,
      '  failed: db away',
      '',
      '  00:00:00.000            accepted      accepted for a.b',
      '  00:00:02.000    +2.0 s  ended         the task failed',
      '',
      'Who is to blame',
      '  REACH_DEPENDENCY_DOWN attempt 1: dependency, db, agent x',
      '    db is away',
      '',
    ].join('\n'),
  );
});

it('checks a manifest, and names the lines of its mistakes', async () => {
  expect((await reach(['manifest', 'examples/agents/fetcher.yaml'])).out).toContain('document.fetch');
  const bad = await reach(['manifest', 'package.json']);
  expect(bad.code).toBe(2);
  expect(bad.err).toMatch(/package\.json:\d+: agent_id: is missing/);
});

it('prints completion scripts that know the commands', async () => {
  for (const shell of ['bash', 'zsh', 'fish'])
    expect((await reach(['completion', shell])).out).toContain('attributions');
});

it('prints the configuration without secrets', async () => {
  const run = await reach(['config', '--json', '--changed'], '', {
    REACH_AUTH_TOKENS: 'a-secret-of-some-length',
    REACH_HTTP_PORT: '9000',
  });
  expect(run.out).not.toContain('a-secret');
  expect(JSON.parse(run.out)).toHaveLength(2);
  expect((await reach(['config'], '', { REACH_HTTP_PRT: '1' })).code).toBe(2);
});

describe('reach agents', () => {
  const agentWith = (more: object) => ({
    agent_id: 'a1',
    name: 'a1',
    state: 'degraded',
    state_reason: 'optional dependency mail is down',
    state_since: AT,
    capabilities: [{ name: 'work', version: '2' }],
    dependencies: [
      { name: 'db', target: 'db:5432' },
      { name: 'mail', target: 'mail:25' },
    ],
    transport: 'session',
    in_flight: 1,
    max_concurrency: 4,
    last_heartbeat_at: AT,
    heartbeat_interval_ms: 1000,
    lease_expires_at: AT,
    registered_at: AT,
    capacity: null,
    tags: [],
    metadata: {},
    ...more,
  });

  it('tells why each is as it is, a hold first', async () => {
    const held = agentWith({ agent_id: 'a2', held: { reason: 'new disk', since: AT } });
    answers['agents'] = { body: { items: [agentWith({}), held] } };
    const { out, code } = await reach(['agents']);
    expect(code).toBe(0);
    expect(out).toMatch(/^AGENT .* REASON$/m);
    expect(out).toMatch(/^a1 .* degraded .* optional dependency mail is down$/m);
    expect(out).toMatch(/^a2 .* held by an operator: new disk; optional dependency mail is down$/m);
    const one = await reach(['agents', '--limit', '1']);
    expect(one.out).not.toMatch(/^a2/m);
    expect(one.err).toContain('(the first 1; more with --limit)');
    expect((await reach(['agents', '--limit', '2'])).err).toBe('');
  });

  it('shows the facts behind the state of one', async () => {
    const unknown = { standing: 'unknown', failures: 0, successes: 0 };
    const down = {
      standing: 'bad',
      failures: 4,
      successes: 0,
      since: AT,
      fault: 'refused',
      detail: 'no\u001b[2J',
    };
    const facts = {
      lease: 'live',
      heartbeat: 'fresh',
      session: 'open',
      leaving: false,
      echo: { standing: 'good', failures: 0, successes: 3, since: AT, latency_ms: 1.7 },
      dependencies: [
        { name: 'db', type: 'postgres', critical: true, ...unknown },
        { name: 'mail', type: 'tcp', critical: false, ...down },
      ],
      warm_up: { passed: false, good: 12, needed: 50, mean_ms: 2.2 },
    };
    const probes = {
      samples: 20,
      success_rate: 0.951,
      p50_ms: 2,
      p95_ms: 8,
      consecutive_failures: 0,
      last_activity_at: AT,
      silent: false,
      score: 0.876,
    };
    const order = { at: AT, from_state: 'online', to_state: 'online', facts: {}, evidence: { by: 'ops' } };
    const history = [
      { ...order, kind: 'release', reason: 'new disk' },
      { ...order, kind: 'hold', reason: 'new disk' },
      { ...order, kind: 'transition', from_state: null, reason: 'registered' },
    ];
    answers['agents/a1'] = { body: agentWith({ facts, windows: { probes }, history }) };
    const { out, code, err } = await reach(['agents', 'a1']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(new RegExp(`^echo +good, since ${AT}, 2 ms$`, 'm'));
    expect(out).toMatch(/^warm-up +12 of 50 probes good, 2 ms on average;/m);
    expect(out).toMatch(/^probes +95\.1 % good of 20 in 10 min, P50 2 ms, P95 8 ms, last .*, score 0\.88$/m);
    expect(out).toMatch(/^db +postgres +yes +unknown +db:5432$/m);
    expect(out).toMatch(/^mail +tcp +no +bad .* 4 running +mail:25 +refused: no\ufffd\[2J$/m);
    expect(out).toMatch(/online +online +released by ops; it had been held: new disk$/m);
    expect(out).toMatch(/online +online +held by ops: new disk$/m);
  });

  it('holds and releases', async () => {
    answers['agents/a%2F1/hold'] = {
      body: agentWith({ agent_id: 'a/1', held: { reason: 'new disk', since: AT } }),
    };
    answers['agents/a%2F1/release'] = { body: agentWith({ agent_id: 'a/1' }) };
    const held = await reach(['agents', 'hold', 'a/1', '--reason', 'new disk', '-n', 'team']);
    expect(held).toMatchObject({ code: 0 });
    expect(held.out).toMatch(/a\/1 is held and gets nothing new; it has 1 to finish/);
    const released = await reach(['agents', 'release', 'a/1', '-n', 'team']);
    expect(released.out).toMatch(/a\/1 is released; it is degraded \(optional dependency mail is down\)/);
    expect(seen).toMatchObject([
      { method: 'POST', path: '/api/v1/agents/a%2F1/hold?namespace=team', body: '{"reason":"new disk"}' },
      { method: 'POST', path: '/api/v1/agents/a%2F1/release?namespace=team' },
    ]);
    expect((await reach(['agents', 'hold'])).code).toBe(2);
  });
});
