import fc from 'fast-check';
import { DueQueue } from './due-queue.js';

test('gives items in the order they are due, each once, as a sorted list would', () => {
  const step = fc.oneof(
    fc.record({ op: fc.constant('set' as const), key: fc.integer({ min: 0, max: 30 }), due: fc.nat(1000) }),
    fc.record({
      op: fc.constant('delete' as const),
      key: fc.integer({ min: 0, max: 30 }),
      due: fc.nat(1000),
    }),
    fc.record({ op: fc.constant('take' as const), key: fc.constant(0), due: fc.nat(1000) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const queue = new DueQueue<string>();
      const model = new Map<string, number>();
      for (const { op, key, due } of steps) {
        if (op === 'set') {
          queue.set(`${key}`, `${key}`, due);
          model.set(`${key}`, due);
        } else if (op === 'delete') expect(queue.delete(`${key}`)).toBe(model.delete(`${key}`));
        else {
          const taken = queue.take(due);
          const least = Math.min(...model.values());
          expect(taken?.dueMs).toBe(least <= due ? least : undefined);
          if (taken !== undefined) {
            expect(model.get(taken.item)).toBe(taken.dueMs);
            model.delete(taken.item);
          }
        }
        expect(queue.size).toBe(model.size);
        expect(queue.nextDueMs()).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
      }
    }),
  );
});
