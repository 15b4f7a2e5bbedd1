import fc from 'fast-check';
import { CronTimes } from './cron.js';
import {
  besideTimes,
  CATCH_UPS,
  type DueQuestion,
  dueTimes,
  jitterOf,
  OVERLAPS,
  withoutOverlap,
} from './schedule.js';

const ms = (text: string): number => Date.parse(text);
const iso = (at: number): string => new Date(at).toISOString();

describe('what is due', () => {
  const hourly = new CronTimes('0 * * * *', 'UTC');
  const ask = (over: Partial<DueQuestion>): DueQuestion => ({
    nextAt: ms('2026-05-01T10:00:00Z'),
    now: ms('2026-05-01T10:00:00.200Z'),
    endAt: undefined,
    catchUp: 'last',
    limit: 3,
    jitterMs: 0,
    ...over,
  });
  const plain = (q: DueQuestion) => {
    const { fire, missed, next } = dueTimes(hourly, q);
    return {
      fire: fire.map((at) => iso(at).slice(11, 16)),
      missed: missed && [missed.from, missed.to].map((at) => iso(at).slice(11, 16)),
      next: next && iso(next).slice(11, 16),
    };
  };

  test.each(CATCH_UPS)('in time it fires once, with %s', (catchUp) => {
    expect(plain(ask({ catchUp }))).toEqual({ fire: ['10:00'], missed: undefined, next: '11:00' });
  });

  const late = { now: ms('2026-05-01T15:30:00Z') };
  test.each([
    ['none', late, { fire: [], missed: ['10:00', '15:00'], next: '16:00' }],
    [
      'none',
      { now: ms('2026-05-01T15:00:59Z') },
      { fire: ['15:00'], missed: ['10:00', '14:00'], next: '16:00' },
    ],
    ['none', { now: ms('2026-05-01T10:05:00Z') }, { fire: [], missed: ['10:00', '10:00'], next: '11:00' }],
    [
      'none',
      { now: ms('2026-05-01T10:05:00Z'), jitterMs: 600_000 },
      { fire: ['10:00'], missed: undefined, next: '11:00' },
    ],
    ['last', late, { fire: ['15:00'], missed: ['10:00', '14:00'], next: '16:00' }],
    ['all', late, { fire: ['13:00', '14:00', '15:00'], missed: ['10:00', '12:00'], next: '16:00' }],
    [
      'all',
      { ...late, limit: 6 },
      { fire: ['10:00', '11:00', '12:00', '13:00', '14:00', '15:00'], missed: undefined, next: '16:00' },
    ],
    // The end holds for what is caught up, too.
    [
      'all',
      { ...late, endAt: ms('2026-05-01T11:30:00Z') },
      { fire: ['10:00', '11:00'], missed: undefined, next: undefined },
    ],
    ['last', { endAt: ms('2026-05-01T10:00:00Z') }, { fire: ['10:00'], missed: undefined, next: undefined }],
    // It is looked at just as the next one comes.
    [
      'last',
      { nextAt: ms('2026-05-01T09:00:00Z'), now: ms('2026-05-01T10:00:00Z') },
      { fire: ['10:00'], missed: ['09:00', '09:00'], next: '11:00' },
    ],
    ['last', { endAt: ms('2026-05-01T11:00:00Z') }, { fire: ['10:00'], missed: undefined, next: '11:00' }],
    // A time that came due under an older expression fires.
    [
      'last',
      { nextAt: ms('2026-05-01T09:59:00Z') },
      { fire: ['10:00'], missed: ['09:59', '09:59'], next: '11:00' },
    ],
  ] as const)('%s, %j', (catchUp, over, expected) => {
    expect(plain(ask({ catchUp, ...over }))).toEqual(expected);
  });

  test('no time is forgotten, or told twice, in any row of rounds', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...CATCH_UPS),
        fc.array(fc.integer({ min: 1, max: 12 * 3_600_000 }), { minLength: 1, maxLength: 12 }),
        (catchUp, waits) => {
          let nextAt = ms('2026-05-01T10:00:00Z');
          let now = nextAt;
          const seen: number[] = [];
          for (const wait of waits) {
            now = Math.max(now, nextAt) + wait;
            const { fire, missed, next } = dueTimes(hourly, ask({ nextAt, now, catchUp }));
            for (let at = missed?.from ?? Infinity; at <= (missed?.to ?? 0); at += 3_600_000) seen.push(at);
            seen.push(...fire);
            nextAt = next as number;
            expect(nextAt).toBeGreaterThan(now);
          }
          expect(seen).toEqual(seen.map((_, i) => ms('2026-05-01T10:00:00Z') + i * 3_600_000));
          expect(seen.at(-1)).toBe(nextAt - 3_600_000);
        },
      ),
    );
  });

  test('jitter puts off, within its bound, and never to the next time', () => {
    expect(jitterOf(10_000, 0, 3_600_000, 0.5)).toBe(5000);
    expect(jitterOf(10_000, 0, 5000, 1)).toBe(4000);
    expect(jitterOf(10_000, 0, 1000, 1)).toBe(0);
    expect(jitterOf(10_000, 0, undefined, 1)).toBe(10_000);
    expect(jitterOf(0, 0, 5000, 1)).toBe(0);
  });
});

test('what fires by hand is never noted at a fire time: those are whole seconds', () => {
  expect([999, 1000, 1001, 2000].map(besideTimes)).toEqual([999, 1001, 1001, 2001]);
});

describe('overlap', () => {
  test.each([
    ['allow', true, undefined, [1, 2], { fire: [1, 2], skipped: [], waiting: undefined }],
    ['skip', false, undefined, [1, 2], { fire: [1], skipped: [2], waiting: undefined }],
    ['skip', true, undefined, [1, 2], { fire: [], skipped: [1, 2], waiting: undefined }],
    ['queue', false, undefined, [1], { fire: [1], skipped: [], waiting: undefined }],
    ['queue', true, undefined, [1, 2], { fire: [], skipped: [2], waiting: 1 }],
    ['queue', true, 1, [2], { fire: [], skipped: [2], waiting: 1 }],
    ['queue', false, 1, [], { fire: [1], skipped: [], waiting: undefined }],
    ['queue', false, 1, [2, 3], { fire: [1], skipped: [3], waiting: 2 }],
  ] as const)('%s, busy: %j, waiting: %j, due: %j', (overlap, busy, waiting, due, expected) => {
    expect(withoutOverlap({ overlap, busy, waiting, due })).toEqual(expected);
  });

  test('every time fires, waits or is skipped, and but for `allow` at most one fires', () => {
    fc.assert(
      fc.property(fc.constantFrom(...OVERLAPS), fc.boolean(), fc.nat(5), (overlap, busy, count) => {
        const due = Array.from({ length: count }, (_, i) => i + 1);
        const { fire, skipped, waiting } = withoutOverlap({ overlap, busy, waiting: undefined, due });
        expect([...fire, ...skipped, ...(waiting === undefined ? [] : [waiting])].sort()).toEqual(due);
        if (overlap !== 'allow') expect(fire.length).toBeLessThanOrEqual(busy ? 0 : 1);
      }),
    );
  });
});
