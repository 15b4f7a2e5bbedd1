import { ago, blameOf, brief, duration, printable } from './text.js';

it('lets nothing through that steers a terminal', () => {
  expect(printable('a\u001b[31mb\u0007\u202ec\nd')).toBe('a\ufffd[31mb\ufffd\ufffdc d');
});

it('cuts by characters, never through one', () => {
  expect(brief('😀'.repeat(5), 3)).toBe('😀😀…');
  expect(brief({ a: 1 })).toBe('{"a":1}');
});

it('names who is to blame, and an agent that is to blame once', () => {
  expect(blameOf({ blame: 'agent', agent_id: 'writer-1' })).toBe('agent writer-1');
  expect(blameOf({ blame: 'agent' })).toBe('agent');
  expect(blameOf({ blame: 'dependency', dependency: 'db', agent_id: 'x' })).toBe('dependency, db, agent x');
  expect(blameOf({ blame: 'network', agent_id: 'x\u001b' })).toBe('network, agent x\ufffd');
});

it.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1500, '1.5 s'],
  [240_000, '4 min'],
  [7_200_000, '2 h'],
  [259_200_000, '3 d'],
])('says %i ms as %s', (ms, text) => expect(duration(ms)).toBe(text));

it('knows the past from the future', () => {
  const now = Date.parse('2030-01-01T00:00:10Z');
  expect(ago('2030-01-01T00:00:00Z', now)).toBe('10.0 s ago');
  expect(ago('2030-01-01T00:01:10Z', now)).toBe('in 1 min');
});
