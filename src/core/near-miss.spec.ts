import fc from 'fast-check';
import { nearMiss } from './near-miss.js';

const known = new Map([
  ['summarize', 4],
  ['document.summarize', 2],
  ['document.translate', 1],
  ['work.a1', 1],
  ['ocr', 3],
]);

test.each([
  ['sumarize', 'summarize'],
  ['sumamrize', 'summarize'],
  ['summarizes', 'summarize'],
  ['sumarise', undefined],
  ['document.sumarise', 'document.summarize'],
  ['document.transalte', 'document.translate'],
  ['document.ocr', undefined],
  ['work.a2', undefined],
  ['ocl', undefined],
  ['invoice.parse', undefined],
])('%s: %s', (name, expected) => {
  expect(nearMiss(name, known)?.name).toBe(expected);
});

test('of two that are as near, the one that more offer is named, with how many', () => {
  expect(nearMiss('reader.x', [['reader.y', 2], ['reader.z', 5], ['reader.w', 1]])).toEqual({ name: 'reader.z', offered: 5 }); // prettier-ignore
});

test('one swap, drop or change of a letter in a long name is found', () => {
  const letters = fc.string({ minLength: 10, maxLength: 30, unit: fc.constantFrom(...'abcdefghij.') });
  fc.assert(
    fc.property(letters, fc.nat(), (name, n) => {
      const at = n % (name.length - 1);
      const swapped = name.slice(0, at) + name[at + 1] + name[at] + name.slice(at + 2);
      const dropped = name.slice(0, at) + name.slice(at + 1);
      for (const slip of [swapped, dropped])
        if (slip !== name) expect(nearMiss(slip, [[name, 1]])?.name).toBe(name);
    }),
  );
});
