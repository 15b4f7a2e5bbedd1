import { painter } from './colors.js';
import { fit, renderTable } from './table.js';

const paint = painter(false);
const ID = '01a22996-578b-73b7-bc49-dec1e27541e3';

it('gives each column the width of its cells', () => {
  expect(
    renderTable(
      ['A', 'LONG'],
      [
        ['one', 'x'],
        ['2', 'yyyyyy'],
      ],
      { paint },
    ),
  ).toBe('A    LONG\none  x\n2    yyyyyy');
});

it('cuts the widest columns where the terminal is narrow, but no ids', () => {
  const lines = renderTable(['ID', 'TEXT'], [[ID, 'word '.repeat(30)]], { width: 60, paint }).split('\n');
  expect(lines[1]).toContain(ID);
  expect(lines[1]?.length).toBeLessThanOrEqual(60);
  expect(lines[1]).toMatch(/…$/);
});

it.each([
  [[5, 5], undefined, [5, 5]],
  [[5, 30], 27, [5, 20]],
  [[30, 30], 42, [20, 20]],
  [[10, 10], 5, [8, 8]],
])('fits %j into %s', (natural, width, expected) => {
  expect(fit(natural, width)).toEqual(expected);
});

it('measures painted cells by what is seen', () => {
  const painted = painter(true)('red', 'failed');
  expect(renderTable(['S', 'T'], [[painted, 'x']], { paint })).toContain(`${painted}  x`);
});
