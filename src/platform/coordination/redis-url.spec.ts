import { describeRedis, parseRedisUrl } from './redis-url.js';

describe('parseRedisUrl', () => {
  test.each([
    ['redis://h', { kind: 'single', options: { host: 'h', port: 6379, db: 0 } }],
    ['redis://10.0.0.1:7000/3', { kind: 'single', options: { host: '10.0.0.1', port: 7000, db: 3 } }],
    ['redis://[::1]:7000/', { kind: 'single', options: { host: '::1', port: 7000, db: 0 } }],
    [
      'redis://me:p%40ss%3A%2F@h',
      { kind: 'single', options: { username: 'me', password: 'p@ss:/', host: 'h', port: 6379, db: 0 } },
    ],
    ['redis://:secret@h', { kind: 'single', options: { password: 'secret', host: 'h', port: 6379, db: 0 } }],
    ['rediss://h:1', { kind: 'single', options: { tls: {}, host: 'h', port: 1, db: 0 } }],
    ['redis-cluster://a', { kind: 'cluster', nodes: [{ host: 'a', port: 6379 }], options: {} }],
    [
      'redis://a:1,b',
      {
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 1 },
          { host: 'b', port: 6379 },
        ],
        options: {},
      },
    ],
    [
      'rediss-cluster://me:pw@a:1,b:2',
      {
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
        options: { username: 'me', password: 'pw', tls: {} },
      },
    ],
    [
      'redis-sentinel://:pw@a,b:2/1#main',
      {
        kind: 'sentinel',
        options: {
          password: 'pw',
          sentinelPassword: 'pw',
          sentinels: [
            { host: 'a', port: 26379 },
            { host: 'b', port: 2 },
          ],
          name: 'main',
          db: 1,
        },
      },
    ],
  ])('reads %s', (url, target) => {
    expect(parseRedisUrl(url)).toEqual(target);
  });

  test.each([
    ...['', 'localhost', 'http://h', 'redis:h', 'redis://', 'redis://h:0', 'redis://h:65536', 'redis://h:x'],
    ...['redis://h/x', 'redis://h/-1', 'redis://a,', 'redis://h?db=1', 'redis://h#x', 'redis://%zz@h'],
    ...['redis-cluster://a,b/1', 'redis-sentinel://a,b', 'redis-sentinel://a,b#', 'redis://::1'],
  ])('refuses %j', (url) => {
    expect(() => parseRedisUrl(url)).toThrow('REDIS_URL');
  });

  test('never repeats a password, neither in an error nor in the description', () => {
    expect(() => parseRedisUrl('redis://me:hunter2@h/x')).toThrow(/^(?!.*hunter2)/);
    for (const url of ['redis://me:hunter2@h', 'redis://me:hunter2@a,b', 'redis-sentinel://me:hunter2@a#m']) {
      expect(describeRedis(parseRedisUrl(url))).not.toContain('hunter2');
    }
    expect(describeRedis(parseRedisUrl('redis://h/2'))).toBe('redis at h:6379/2');
  });
});
