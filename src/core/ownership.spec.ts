import fc from 'fast-check';
import { Membership, ownerOf, type Member } from './ownership.js';

const member = (replicaId: string, more: Partial<Member> = {}): Member => ({
  replicaId,
  zone: undefined,
  activeAtMs: 0,
  heartbeatAtMs: 0,
  ...more,
});
const three = ['a', 'b', 'c'].map((id) => member(id));
const keys = Array.from({ length: 3000 }, (_, i) => `target-${i}`);

test('shares are about equal', () => {
  const shares = new Map<string, number>();
  for (const key of keys) {
    const owner = ownerOf(key, three, undefined) ?? '';
    shares.set(owner, (shares.get(owner) ?? 0) + 1);
  }
  expect([...shares.keys()].sort()).toEqual(['a', 'b', 'c']);
  for (const share of shares.values()) expect(Math.abs(share - 1000)).toBeLessThan(100);
});

test('a death moves the share of the dead and nothing else', () => {
  const two = three.filter((m) => m.replicaId !== 'b');
  for (const key of keys) {
    const before = ownerOf(key, three, undefined);
    const after = ownerOf(key, two, undefined);
    if (before === 'b') expect(after).not.toBe('b');
    else expect(after).toBe(before);
  }
});

test('the order in which replicas are read decides nothing', () => {
  fc.assert(
    fc.property(fc.string(), fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1 }), (key, ids) => {
      const members = ids.map((id) => member(id));
      expect(ownerOf(key, members.toReversed(), undefined)).toBe(ownerOf(key, members, undefined));
    }),
  );
});

test('replicas of the zone come first, and any replica where the zone has none', () => {
  const zoned = [member('a', { zone: 'east' }), member('b', { zone: 'west' }), member('c')];
  for (const key of keys.slice(0, 100)) {
    expect(ownerOf(key, zoned, 'west')).toBe('b');
    expect(ownerOf(key, zoned, 'north')).toBe(ownerOf(key, zoned, undefined));
  }
  expect(ownerOf('key', [], 'west')).toBeUndefined();
});

test('a replica counts from its moment on until its heartbeats have stopped for a lifetime', () => {
  const membership = new Membership(6000);
  membership.update([member('a', { activeAtMs: 10_000, heartbeatAtMs: 9000 })], 9000, 500);
  const countsAt = (clockMs: number) => membership.liveAt(clockMs - 9000 + 500).length;
  expect([9999, 10_000, 14_999, 15_000].map(countsAt)).toEqual([0, 1, 1, 0]);
  const changesIn = (clockMs: number) => membership.nextChangeMs(clockMs - 9000 + 500);
  expect([9999, 10_000, 15_000].map(changesIn)).toEqual([1, 5000, Infinity]);
});

test('two replicas that read at different times agree at every moment', () => {
  const rows = [
    member('a', { heartbeatAtMs: 100_000 }),
    member('b', { activeAtMs: 104_000, heartbeatAtMs: 100_000 }),
  ];
  const early = new Membership(6000);
  early.update(rows, 100_000, 0);
  const late = new Membership(6000);
  late.update(rows, 101_700, 9000);
  for (let clock = 102_000; clock < 108_000; clock += 100) {
    const seen = (m: Membership, nowMs: number) => m.liveAt(nowMs).map((x) => x.replicaId);
    expect(seen(late, clock - 101_700 + 9000)).toEqual(seen(early, clock - 100_000));
  }
});
