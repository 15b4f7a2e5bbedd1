import { failpoint, failpointProblems } from './failpoints.js';

test('a server of anybody does not take failpoints', () => {
  expect(failpointProblems({})).toEqual([]);
  expect(failpointProblems({ REACH_FAILPOINTS: 'admit_before_commit:1' })).toEqual([
    expect.stringContaining('for tests only'),
  ]);
});

test('names and numbers are checked', () => {
  const problems = (text: string) => failpointProblems({ REACH_TEST_HOOKS: '1', REACH_FAILPOINTS: text });
  expect(problems('admit_before_commit:1,offer_after_send:20')).toEqual([]);
  expect(problems('nowhere:1')).toEqual([expect.stringContaining('nowhere:1')]);
  expect(problems('admit_before_commit')).toEqual([expect.stringContaining('admit_before_commit')]);
  expect(problems('admit_before_commit:0')).toHaveLength(1);
});

test('an unarmed place does nothing', () => {
  expect(() => failpoint('admit_before_commit')).not.toThrow();
});
