import { ConfigError, describeConfig, FIELD_META, FIELD_NAMES, isLoopback, loadConfig } from './config.js';
import { envExample } from './env-example.js';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('loadConfig', () => {
  test('gives every field of an empty environment its default', () => {
    const config = loadConfig({});
    expect(config).toMatchObject({
      httpHost: '127.0.0.1',
      httpPort: 8080,
      ackTimeoutMs: 5000,
      inboxLimit: 128,
      maxAttempts: 4,
      retryJitter: 0.05,
      heartbeatIntervalMs: 15_000,
      leaseGraceMs: 5000,
      payloadLimitBytes: 262_144,
      authTokens: [],
    });
    expect(config.databaseUrl).toBeUndefined();
  });

  test('is frozen, lists included', () => {
    const config = loadConfig({ REACH_AUTH_TOKENS: 'a'.repeat(16) });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.authTokens)).toBe(true);
  });

  test('an empty or blank variable counts as unset', () => {
    expect(loadConfig({ REACH_HTTP_PORT: '', REACH_DATA_DIR: '  ' })).toMatchObject({
      httpPort: 8080,
      dataDir: '.reach',
    });
  });

  test('two processes get two replica ids; a given one is kept', () => {
    expect(loadConfig({}).replicaId).not.toBe(loadConfig({}).replicaId);
    expect(loadConfig({ REACH_REPLICA_ID: 'east-1' }).replicaId).toBe('east-1');
  });

  test.each([
    ['5s', 'REACH_ACK_TIMEOUT_MS must be a whole number, not "5s"'],
    ['1e3', 'REACH_ACK_TIMEOUT_MS must be a whole number, not "1e3"'],
    ['NaN', 'REACH_ACK_TIMEOUT_MS must be a whole number, not "NaN"'],
    ['0x10', 'REACH_ACK_TIMEOUT_MS must be a whole number, not "0x10"'],
    ['-5', 'REACH_ACK_TIMEOUT_MS must be at least 50'],
    ['99999999999999999999', 'REACH_ACK_TIMEOUT_MS must be at most 300000'],
  ])('refuses REACH_ACK_TIMEOUT_MS=%s', (value, problem) => {
    expect(problemsOf({ REACH_ACK_TIMEOUT_MS: value })).toEqual([problem]);
  });

  test('every bound holds at its edge and breaks one past it', () => {
    expect(loadConfig({ REACH_HTTP_PORT: '65535' }).httpPort).toBe(65_535);
    expect(problemsOf({ REACH_HTTP_PORT: '65536' })).toHaveLength(1);
    expect(loadConfig({ REACH_RETRY_JITTER: '.5' }).retryJitter).toBe(0.5);
    expect(problemsOf({ REACH_RETRY_JITTER: '1.01' })).toHaveLength(1);
    expect(problemsOf({ REACH_LEASE_INTERVALS: '2' })).toEqual(['REACH_LEASE_INTERVALS must be at least 3']);
  });

  test('lists every problem at once', () => {
    const problems = problemsOf({
      REACH_HTTP_PORT: 'x',
      REACH_INBOX_LIMIT: '0',
      REACH_LOG_LEVEL: 'loud',
      REACH_NOPE: '1',
    });
    expect(problems).toHaveLength(4);
    expect(new ConfigError(problems).message.split('\n')).toHaveLength(5);
  });

  test('lists refused combinations beside wrong values, and blames no value that is missing for being wrong', () => {
    const problems = problemsOf({
      REACH_INBOX_LIMIT: '0',
      REACH_HTTP_HOST: '0.0.0.0',
      REDIS_URL: 'redis://r',
    });
    expect(problems).toEqual([
      'REACH_INBOX_LIMIT must be at least 1',
      expect.stringContaining('REACH_AUTH_TOKENS must be set'),
      expect.stringContaining('REDIS_URL needs DATABASE_URL'),
    ]);
    expect(problemsOf({ REDIS_URL: 'redis://r', DATABASE_URL: 'mysql://d/x' })).toHaveLength(1);
    expect(problemsOf({ REACH_HTTP_HOST: '0.0.0.0', REACH_AUTH_TOKENS: 'short' })).toHaveLength(1);
  });

  test('an unknown variable is refused, with a hint where one is near', () => {
    expect(problemsOf({ REACH_HTTP_PRT: '1' })).toEqual([
      'REACH_HTTP_PRT is not a setting; did you mean REACH_HTTP_PORT?',
    ]);
    expect(problemsOf({ REACH_QUITE_SOMETHING_ELSE_ENTIRELY: '1' })).toEqual([
      'REACH_QUITE_SOMETHING_ELSE_ENTIRELY is not a setting',
    ]);
  });

  test('what clients and Kubernetes set is let stand', () => {
    expect(problemsOf({ REACH_URL: 'http://x', PATH: '/bin' })).toEqual([]);
    const injected = { REACH_SERVICE_HOST: '10.0.0.1', REACH_PORT_8080_TCP: 'tcp://10.0.0.1:8080' };
    expect(problemsOf({ ...injected, KUBERNETES_SERVICE_HOST: '10.0.0.1' })).toEqual([]);
    expect(problemsOf(injected)).toHaveLength(2);
  });

  test('off loopback only with tokens', () => {
    expect(problemsOf({ REACH_HTTP_HOST: '0.0.0.0' })[0]).toContain('REACH_AUTH_TOKENS must be set');
    expect(problemsOf({ REACH_HTTP_HOST: '::' })).toHaveLength(1);
    expect(problemsOf({ REACH_HTTP_HOST: '0.0.0.0', REACH_AUTH_TOKENS: 'a'.repeat(16) })).toEqual([]);
    expect(problemsOf({ REACH_HTTP_HOST: '127.8.9.1' })).toEqual([]);
  });

  test('Redis only with a database of one’s own', () => {
    expect(problemsOf({ REDIS_URL: 'redis://localhost' })[0]).toContain('DATABASE_URL');
    expect(problemsOf({ REDIS_URL: 'redis://localhost', DATABASE_URL: 'postgres://localhost/x' })).toEqual(
      [],
    );
    expect(problemsOf({ DATABASE_URL: 'mysql://localhost/x' })[0]).toContain('postgres://');
  });

  test('a weak token is refused without being repeated', () => {
    const [problem] = problemsOf({ REACH_AUTH_TOKENS: `${'a'.repeat(16)}, short` });
    expect(problem).toContain('at least 16 characters');
    expect(problem).not.toContain('short');
  });
});

describe('isLoopback', () => {
  test.each([
    ['127.0.0.1', true],
    ['localhost', true],
    ['::1', true],
    ['127.evil.example', false],
    ['10.0.0.1', false],
    ['0.0.0.0', false],
  ])('%s: %s', (host, expected) => expect(isLoopback(host)).toBe(expected));
});

describe('describeConfig', () => {
  test('tells value and source, and masks every secret', () => {
    const env = {
      REACH_HTTP_PORT: '9000',
      DATABASE_URL: 'postgres://me:pa55word@db/reach?password=pa55word2',
      REACH_AUTH_TOKENS: 'token-one-token-one,token-two-token-two',
    };
    const entries = describeConfig(loadConfig(env), env);
    const of = (name: string) => entries.find((entry) => entry.env === name);
    expect(of('REACH_HTTP_PORT')).toMatchObject({ value: '9000', source: 'environment' });
    expect(of('REACH_INBOX_LIMIT')).toMatchObject({ value: '128', source: 'default' });
    expect(of('REACH_AUTH_TOKENS')?.value).toBe('***,***');
    expect(of('DATABASE_URL')?.value).toContain('me:***@db');
    expect(JSON.stringify(entries)).not.toMatch(/pa55word|token-one/);
  });
});

describe('the fields', () => {
  test('each has its own variable, a group and a meaning; a duration names its unit', () => {
    const variables = FIELD_NAMES.map((name) => FIELD_META[name].env);
    expect(new Set(variables).size).toBe(variables.length);
    for (const name of FIELD_NAMES) {
      const { env, description, group } = FIELD_META[name];
      expect(description.length).toBeGreaterThan(10);
      expect(group).toBeTruthy();
      expect(env).toMatch(/^(REACH_[A-Z0-9_]+|DATABASE_URL|REDIS_URL)$/);
      if (name.endsWith('Ms')) expect(description).toMatch(/milliseconds/i);
      if (name.endsWith('Bytes')) expect(description).toMatch(/bytes/i);
    }
  });

  test('.env.example has all of them, commented out', () => {
    const lines = envExample().split('\n');
    for (const name of FIELD_NAMES) {
      expect(lines.filter((line) => line.startsWith(`#${FIELD_META[name].env}=`))).toHaveLength(1);
    }
    expect(lines.every((line) => line === '' || line.startsWith('#'))).toBe(true);
    expect(lines).toContain('#REACH_ACK_TIMEOUT_MS=5000');
  });
});
