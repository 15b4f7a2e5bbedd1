import fc from 'fast-check';
import { IndexedSet } from './indexed-set.js';

test('it holds what a set would hold, each at one position', () => {
  const step = fc.record({ add: fc.boolean(), member: fc.nat(8) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const indexed = new IndexedSet<number>();
      const plain = new Set<number>();
      for (const { add, member } of steps) {
        indexed[add ? 'add' : 'delete'](member);
        plain[add ? 'add' : 'delete'](member);
        expect(new Set(indexed)).toEqual(plain);
        expect(indexed.length).toBe(plain.size);
        const byPosition = Array.from({ length: indexed.length }, (_, i) => indexed.at(i));
        expect(byPosition).toEqual([...indexed]);
      }
      expect(indexed.at(indexed.length)).toBeUndefined();
    }),
  );
});
