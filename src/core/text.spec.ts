import fc from 'fast-check';
import { storableJson, storableText, truncate } from './text.js';

const anyText = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) });

test('NUL and lone surrogates become U+FFFD, everything else stays', () => {
  expect(storableText('a\u0000b')).toBe('a\uFFFDb');
  expect(storableText('a\uD83Db')).toBe('a\uFFFDb');
  expect(storableText('\u{1F600} ok')).toBe('\u{1F600} ok');
});

test('stored JSON holds nothing that Postgres refuses, in values and keys, at any depth', () => {
  fc.assert(
    fc.property(fc.jsonValue(), anyText, anyText, (value, key, text) => {
      const json = storableJson({ deep: [{ [key]: text }, value], [text]: 1 });
      expect(json).not.toMatch(/\\u0000|\\u[dD][89a-fA-F]/);
      expect(json.isWellFormed()).toBe(true);
      JSON.parse(json);
    }),
  );
});

test('good JSON is stored as it is', () => {
  const value = { a: [1, 'é', '\u{1F600}', null], b: { c: true } };
  expect(JSON.parse(storableJson(value))).toEqual(value);
  expect(storableJson(undefined)).toBe('null');
});

test('truncation keeps to its limit and cuts no character in half', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 40 }), (text, max) => {
      const cut = truncate(text, max);
      expect(cut.length).toBeLessThanOrEqual(Math.max(max, text.length <= max ? text.length : 1));
      expect(cut.isWellFormed()).toBe(true);
      if (text.length <= max) expect(cut).toBe(text);
    }),
  );
});
