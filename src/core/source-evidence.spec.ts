import { SourceEvidence, type SourceView } from './source-evidence.js';

const GRACE_MS = 60_000;
const KNOWN = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const view = (healthy: Record<string, boolean>, isComplete = true): SourceView => ({
  healthy: new Map(Object.entries(healthy)),
  isComplete,
});
const all = (except: readonly string[] = []) =>
  Object.fromEntries(KNOWN.filter((key) => !except.includes(key)).map((key) => [key, true]));

describe('what a source says of its agents', () => {
  let evidence: SourceEvidence;
  beforeEach(() => {
    evidence = new SourceEvidence(GRACE_MS);
  });

  test('nothing heard of it yet: everybody stays', () => {
    expect(evidence.judge(KNOWN, undefined, true, 0)).toEqual({ renew: KNOWN, remove: [] });
  });

  test('unhealthy is renewed no more and never removed; back again, it is renewed', () => {
    const sick = view({ ...all(), a: false });
    expect(evidence.judge(KNOWN, sick, false, 0).renew).not.toContain('a');
    expect(evidence.judge(KNOWN, sick, false, 10 * GRACE_MS)).toEqual({ renew: KNOWN.slice(1), remove: [] });
    expect(evidence.judge(KNOWN, view(all()), false, 10 * GRACE_MS).renew).toEqual(KNOWN);
  });

  test('gone is renewed no more, and removed after the grace time', () => {
    const gone = view(all(['a']));
    expect(evidence.judge(KNOWN, gone, false, 0)).toEqual({ renew: KNOWN.slice(1), remove: [] });
    expect(evidence.judge(KNOWN, gone, false, GRACE_MS - 1).remove).toEqual([]);
    expect(evidence.judge(KNOWN, gone, false, GRACE_MS).remove).toEqual(['a']);
  });

  test('who comes back in between has the whole grace time again', () => {
    evidence.judge(KNOWN, view(all(['a'])), false, 0);
    evidence.judge(KNOWN, view(all()), false, GRACE_MS - 1);
    expect(evidence.judge(KNOWN, view(all(['a'])), false, GRACE_MS + 1).remove).toEqual([]);
  });

  test('a source that fails removes nobody, and one that is not read wholly misses nobody', () => {
    const gone = view(all(['a']));
    evidence.judge(KNOWN, gone, false, 0);
    expect(evidence.judge(KNOWN, gone, true, 2 * GRACE_MS).remove).toEqual([]);
    const partly = view(all(KNOWN), false);
    expect(evidence.judge(KNOWN, partly, false, 0)).toEqual({ renew: KNOWN, remove: [] });
    expect(evidence.judge(KNOWN, view({ a: false }, false), false, 0).renew).toEqual(KNOWN.slice(1));
  });

  test('most gone at once: believed after the grace time, removed after two', () => {
    const emptied = view({});
    expect(evidence.judge(KNOWN, emptied, false, 0).renew).toEqual(KNOWN);
    expect(evidence.judge(KNOWN, emptied, false, GRACE_MS - 1).renew).toEqual(KNOWN);
    expect(evidence.judge(KNOWN, emptied, false, GRACE_MS)).toEqual({ renew: [], remove: [] });
    expect(evidence.judge(KNOWN, emptied, false, 2 * GRACE_MS).remove).toEqual(KNOWN);
  });

  test('a few of many, or all of three, are no mass', () => {
    expect(evidence.judge(KNOWN, view(all(['a', 'b', 'c'])), false, 0).renew).toHaveLength(7);
    expect(evidence.judge(['a', 'b', 'c'], view({}), false, 0).renew).toEqual([]);
  });
});
