import fc from 'fast-check';
import { laneLabel, laneOf, parseCapabilityRef, requirementOf, type Requirement } from './lane.js';

const word = fc
  .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
  .filter((s) => !/[\s@\p{Cc}]/u.test(s));
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 4 });
const requirement = fc.record<Requirement>(
  {
    namespace: word,
    capabilities: words.map((names) => names.map((name) => ({ name }))),
    agentId: word,
    name: word,
    version: fc.constant('^1.2'),
    tags: words,
    zone: word,
    exclude: words,
  },
  { requiredKeys: ['namespace', 'capabilities'] },
);

const sorted = (r: Requirement): Requirement => ({
  ...r,
  capabilities: [...r.capabilities].sort((a, b) => (a.name < b.name ? -1 : 1)),
  ...(r.tags && { tags: [...r.tags].sort() }),
  ...(r.exclude && { exclude: [...r.exclude].sort() }),
});

test('a key tells its requirement, and equal requirements have one key', () => {
  fc.assert(
    fc.property(requirement, (r) => {
      expect(requirementOf(laneOf(r))).toEqual(sorted(r));
      expect(laneOf(sorted(r))).toBe(laneOf(r));
    }),
  );
});

test('different requirements never share a key', () => {
  fc.assert(
    fc.property(requirement, requirement, (a, b) => {
      if (JSON.stringify(sorted(a)) !== JSON.stringify(sorted(b)))
        expect(laneOf(a) === laneOf(b)).toBe(isSame(sorted(a), sorted(b)));
    }),
  );
});

const canonical = (r: Requirement): string => JSON.stringify(Object.entries(r).sort());
const isSame = (a: Requirement, b: Requirement): boolean => canonical(a) === canonical(b);

test('name and range are read apart', () => {
  expect(parseCapabilityRef('document.summarize')).toEqual({ name: 'document.summarize' });
  expect(parseCapabilityRef('summarizer@^2.1')).toEqual({ name: 'summarizer', version: '^2.1' });
  expect(laneLabel({ namespace: 'n', capabilities: [{ name: 'a' }, { name: 'b' }] })).toBe('a+b');
  expect(laneLabel({ namespace: 'n', capabilities: [], agentId: 'x' })).toBe('x');
});
