import { FOLD_ABOVE, pictureOf, type Source } from './topology.js';

const agent = (id: string, ...dependencies: Source['dependencies']): Source => ({
  id,
  name: id.replace(/-\d+$/, ''),
  state: 'online',
  dependencies,
});
const needs = (name: string, standing: 'unknown' | 'good' | 'suspect' | 'bad' = 'good') => ({
  name,
  type: 'http',
  standing,
});

test('each agent and each dependency has a place of its own, and a line where one needs the other', () => {
  const { nodes, lines } = pictureOf([
    agent('a-1', needs('db'), needs('model', 'bad')),
    agent('a-2', needs('db', 'suspect')),
    agent('b-1'),
  ]);
  expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(5);
  expect(lines.map(({ from, to, standing }) => [from.label, to.label, standing])).toEqual([
    ['a-1', 'db', 'good'],
    ['a-1', 'model', 'bad'],
    ['a-2', 'db', 'suspect'],
  ]);
  const db = nodes.find((node) => node.label === 'db');
  expect(db).toMatchObject({ kind: 'dependency', standing: 'suspect', agents: ['a-1', 'a-2'] });
});

test('nothing overlaps, and everything lies within the radius', () => {
  const sources = Array.from({ length: 120 }, (_, i) => agent(`a-${i}`, needs(`d${i % 20}`)));
  const { nodes, radius } = pictureOf(sources);
  for (const [i, one] of nodes.entries()) {
    expect(Math.hypot(one.x, one.y)).toBeLessThan(radius);
    for (const other of nodes.slice(i + 1))
      expect(Math.hypot(one.x - other.x, one.y - other.y)).toBeGreaterThan(30);
  }
});

test('too many agents are drawn by their names, with the worst that is known of their lines', () => {
  const sources = Array.from({ length: FOLD_ABOVE + 1 }, (_, i) =>
    agent(`a-${i}`, needs('db', i === 7 ? 'bad' : 'good')),
  );
  const { nodes, lines, folded } = pictureOf(sources);
  expect(folded).toBe(true);
  expect(nodes).toHaveLength(2);
  expect(nodes[1]?.agents).toHaveLength(FOLD_ABOVE + 1);
  expect(lines).toMatchObject([{ standing: 'bad' }]);
});

test('nobody is an empty picture', () => {
  expect(pictureOf([])).toMatchObject({ nodes: [], lines: [], folded: false });
});
