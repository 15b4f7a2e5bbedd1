import fc from 'fast-check';
import { ReachError } from '../../core/errors.js';
import { MAX_DEPTH, parseJsonBody, pointerOf, textFault } from './json-body.js';

const parse = (text: string) => parseJsonBody(Buffer.from(text));

function pointerIn(text: string): string | undefined {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof ReachError) return error.extra.errors?.[0]?.pointer;
    throw error;
  }
  return undefined;
}

/** Text of any kind, the refused kinds included. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\0', '\ud800', '\udfff', '__proto__', 'a/b~'),
);

function clean(value: unknown): boolean {
  if (typeof value === 'string') return textFault(value) === undefined;
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => textFault(key) === undefined && clean(inner));
}

describe('parseJsonBody', () => {
  test('an empty body is no body', () => {
    expect(parse('')).toBeUndefined();
  });

  test('takes exactly the JSON that the stores can carry, and leaves it as it is', () => {
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constant(null),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
        anyText,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(
          anyText.filter((key) => key !== '__proto__'),
          tie('value'),
          { maxKeys: 4 },
        ),
      ),
    })).value;
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        if (clean(value)) expect(parse(text)).toEqual(value);
        else expect(pointerIn(text)).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  test('depth is counted outside of strings only', () => {
    const nest = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(pointerIn(nest(MAX_DEPTH))).toBeUndefined();
    expect(pointerIn(nest(MAX_DEPTH + 1))).toBe('');
    expect(pointerIn('['.repeat(1_000_000))).toBe('');
    expect(pointerIn(JSON.stringify(`"\\${'['.repeat(200)}`))).toBeUndefined();
    expect(pointerIn(JSON.stringify(Array.from({ length: 500 }, () => [1])))).toBeUndefined();
  });

  test('every spelling of a forbidden key is found', () => {
    const letters = [...'__proto__'];
    for (let i = 0; i < letters.length; i++) {
      const escaped = letters.map((c, j) => (j === i ? `\\u00${c.charCodeAt(0).toString(16)}` : c)).join('');
      expect(pointerIn(`{"a":{"${escaped}":1}}`)).toBe('/a/__proto__');
    }
    expect(pointerIn('{"\\u0063onstructor":{"prototype":1}}')).toBe('/constructor');
    expect(pointerIn('{"constructor":{"prototypes":1}}')).toBeUndefined();
    expect(pointerIn('{"a":"__proto__"}')).toBeUndefined();
  });

  test('a body of 1 MB without suspects costs a few milliseconds', () => {
    const body = Buffer.from(
      JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ name: `agent ${i}`, n: i }))),
    );
    const tookMs = Array.from({ length: 5 }, () => {
      const started = performance.now();
      parseJsonBody(body);
      return performance.now() - started;
    });
    // Measured 6 ms; the bound only catches a change of order. The quickest of five: the others may have had to
    // wait for the processor of a busy machine.
    expect(Math.min(...tookMs)).toBeLessThan(150);
  });
});

test('pointerOf escapes as RFC 6901 asks', () => {
  expect(pointerOf(['a/b', 0, 'm~n', ''])).toBe('/a~1b/0/m~0n/');
  expect(pointerOf([])).toBe('');
  expect(pointerOf(['\ud800'])).toBe('/\ufffd');
});
