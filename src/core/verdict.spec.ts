import fc from 'fast-check';
import { observe, UNKNOWN, type Verdict } from './verdict.js';

const RULES = { down: 3, up: 2 };

/** F and S in the order in which the probes started; each result comes one second after the one before. */
function after(results: string, from: Verdict = UNKNOWN): Verdict {
  return [...results].reduce(
    (v, letter, i) =>
      observe(
        v,
        {
          ok: letter === 'S',
          seq: from.seq + 1 + i,
          atMs: 1000 * (i + 1),
          ...(letter === 'F' && { fault: 'refused' }),
        },
        RULES,
      ),
    from,
  );
}

test.each([
  ['', 'unknown'],
  ['S', 'good'],
  ['F', 'suspect'],
  ['FF', 'suspect'],
  ['FFF', 'bad'],
  ['FS', 'suspect'],
  ['FSS', 'good'],
  ['SF', 'suspect'],
  ['SFF', 'suspect'],
  ['SFFF', 'bad'],
  ['SFFS', 'suspect'],
  ['SFFSS', 'good'],
  ['SFFSFF', 'suspect'],
  ['SFFSFFF', 'bad'],
  ['FFFS', 'bad'],
  ['FFFSF', 'bad'],
  ['FFFSFS', 'bad'],
  ['FFFSS', 'good'],
])('%s makes %s', (results, standing) => {
  expect(after(results).standing).toBe(standing);
});

test('it counts what runs, and keeps the fault until it is good again', () => {
  expect(after('SFFF')).toEqual({
    standing: 'bad',
    failures: 3,
    successes: 0,
    seq: 3,
    sinceMs: 4000,
    fault: 'refused',
  });
  expect(after('SFFFF')).toMatchObject({ failures: 4, sinceMs: 4000 });
  expect(after('SFFFS')).toMatchObject({ standing: 'bad', failures: 0, successes: 1, fault: 'refused' });
  expect(after('SFFFSS')).toEqual({ standing: 'good', failures: 0, successes: 2, seq: 5, sinceMs: 6000 });
  expect(after('SSS')).toMatchObject({ successes: 3, sinceMs: 1000 });
});

test('with one failure to go down, the first one is enough', () => {
  expect(observe(UNKNOWN, { ok: false, seq: 0, atMs: 1 }, { down: 1, up: 1 }).standing).toBe('bad');
});

test('the late answer of an older probe changes nothing', () => {
  const bad = after('SFFF');
  for (const seq of [bad.seq, bad.seq - 1, 0])
    expect(observe(bad, { ok: true, seq, atMs: 99_000 }, RULES)).toBe(bad);
  expect(after('SS', bad).standing).toBe('good');
});

const results = fc.array(fc.constantFrom('S', 'F'), { maxLength: 40 }).map((letters) => letters.join(''));

test('input that flaps makes one change from good, to suspect', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), (times) => {
      const standings = [...'FS'.repeat(times)].map(
        (_, i, all) => after(all.slice(0, i + 1).join(''), after('S')).standing,
      );
      expect(new Set(standings)).toEqual(new Set(['suspect']));
    }),
  );
});

test('good needs two good ones running, bad three failed ones running, whatever came before', () => {
  fc.assert(
    fc.property(results, (before) => {
      expect(after(`${before}SS`).standing).toBe('good');
      expect(after(`${before}FFF`).standing).toBe('bad');
      const known = after(before);
      if (known.standing === 'good') expect(after('F', known).standing).toBe('suspect');
      if (known.standing === 'bad') expect(after('FS', known).standing).toBe('bad');
    }),
  );
});

test('two changes of standing are never nearer than the hysteresis allows', () => {
  fc.assert(
    fc.property(results, (letters) => {
      let v = after('S');
      let sinceDown = 0;
      for (const letter of letters) {
        const next = after(letter, v);
        sinceDown = next.standing === 'suspect' && v.standing === 'good' ? 0 : sinceDown + 1;
        if (next.standing === 'bad' && v.standing !== 'bad') expect(sinceDown).toBeGreaterThanOrEqual(2);
        if (next.standing === 'good' && v.standing !== 'good')
          expect(next.successes).toBeGreaterThanOrEqual(2);
        v = next;
      }
    }),
  );
});
