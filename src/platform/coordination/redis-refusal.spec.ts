import { refusalOf } from './redis-refusal.js';

test.each([
  ['WRONGPASS invalid username-password pair or user is disabled.', /password are wrong \(WRONGPASS invalid/],
  ['NOAUTH Authentication required.', /wants a password/],
  ['ERR AUTH <password> called without any password configured for the default user.', /none is set there/],
  ['ERR DB index is out of range', /no such database \(ERR DB index is out of range\)/],
  ["NOPERM this user has no permissions to run the 'eval' command", /lacks permissions/],
  [
    'All sentinels are unreachable. Retrying from scratch after 50ms. Last error: WRONGPASS invalid pair',
    /wrong/,
  ],
])('%s is for ever', (message, sentence) => {
  expect(refusalOf(new Error(message))).toMatch(sentence);
});

test('what a node of a cluster said counts', () => {
  const error = Object.assign(new Error('Failed to refresh slots cache.'), {
    lastNodeError: new Error('NOAUTH Authentication required.'),
  });
  expect(refusalOf(error)).toContain('NOAUTH');
});

test.each([
  'connect ECONNREFUSED 127.0.0.1:6379',
  'getaddrinfo ENOTFOUND redis',
  'connect ETIMEDOUT',
  'Connection is closed.',
  'LOADING Redis is loading the dataset in memory',
  'READONLY You can’t write against a read only replica.',
  'CLUSTERDOWN The cluster is down',
])('%s may pass', (message) => {
  expect(refusalOf(new Error(message))).toBeUndefined();
});
