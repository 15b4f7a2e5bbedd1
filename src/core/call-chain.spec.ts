import { spentIn } from './call-chain.js';

test.each([
  ['', []],
  ['aaaa', []],
  ['aaaaa', ['a']],
  ['ababababa', ['a']],
  ['bababababa', ['a', 'b']],
  ['abcdeabcdeabcdeabcde', []],
])('%s', (chain, spent) => {
  expect(spentIn([...chain])).toEqual(spent);
});
