import fc from 'fast-check';
import { CronProblem, CronTimes } from './cron.js';

const ms = (text: string): number => Date.parse(text);
const iso = (at: number): string => new Date(at).toISOString().slice(0, 19) + 'Z';
const series = (cron: string, zone: string, from: string, count: number): string[] =>
  new CronTimes(cron, zone).series(ms(from), count).map(iso);

describe('fire times', () => {
  test.each([
    // Europe/Berlin: 2 to 3 does not exist on 2026-03-29, and exists twice on 2026-10-25.
    [
      '30 2 * * *',
      'Europe/Berlin',
      '2026-03-28T00:00:00Z',
      ['2026-03-28T01:30:00Z', '2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z'],
    ],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z']],
    // From between the two: it has fired.
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:45:00Z', ['2026-10-26T01:30:00Z']],
    // Several that do not exist fire once together; one of them falls on one that does.
    [
      '*/10 2 * * *',
      'Europe/Berlin',
      '2026-03-28T12:00:00Z',
      ['2026-03-29T01:00:00Z', '2026-03-30T00:00:00Z', '2026-03-30T00:10:00Z'],
    ],
    [
      '0 2,3 * * *',
      'Europe/Berlin',
      '2026-03-28T12:00:00Z',
      ['2026-03-29T01:00:00Z', '2026-03-30T00:00:00Z'],
    ],
    [
      '*/30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T12:00:00Z',
      ['2026-10-25T00:00:00Z', '2026-10-25T00:30:00Z', '2026-10-26T01:00:00Z'],
    ],
    [
      '0 */2 * * *',
      'Europe/Berlin',
      '2026-10-24T21:00:00Z',
      ['2026-10-24T22:00:00Z', '2026-10-25T00:00:00Z', '2026-10-25T03:00:00Z'],
    ],
    // Every hour is every hour that passes.
    [
      '0 * * * *',
      'Europe/Berlin',
      '2026-10-24T23:30:00Z',
      ['2026-10-25T00:00:00Z', '2026-10-25T01:00:00Z', '2026-10-25T02:00:00Z'],
    ],
    [
      '*/30 * * * *',
      'Europe/Berlin',
      '2026-03-29T00:15:00Z',
      ['2026-03-29T00:30:00Z', '2026-03-29T01:00:00Z', '2026-03-29T01:30:00Z'],
    ],
    [
      '30 2 * * *',
      'America/New_York',
      '2026-03-07T12:00:00Z',
      ['2026-03-08T07:00:00Z', '2026-03-09T06:30:00Z'],
    ],
    [
      '30 1 * * *',
      'America/New_York',
      '2026-10-31T12:00:00Z',
      ['2026-11-01T05:30:00Z', '2026-11-02T06:30:00Z'],
    ],
    // Lord Howe moves its clocks by half an hour.
    [
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-03T00:00:00Z',
      ['2026-10-03T15:30:00Z', '2026-10-04T15:15:00Z'],
    ],
    [
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2026-04-04T00:00:00Z',
      ['2026-04-04T14:45:00Z', '2026-04-05T15:15:00Z'],
    ],
    // Cairo has no midnight on that day.
    ['0 0 * * *', 'Africa/Cairo', '2026-04-23T12:00:00Z', ['2026-04-23T22:00:00Z', '2026-04-24T21:00:00Z']],
    ['30 2 * * *', 'UTC', '2026-03-28T12:00:00Z', ['2026-03-29T02:30:00Z', '2026-03-30T02:30:00Z']],
    ['15 30 9 * * MON-FRI', 'UTC', '2026-11-27T12:00:00Z', ['2026-11-30T09:30:15Z']],
    ['0 0 L * *', 'UTC', '2026-02-01T00:00:00Z', ['2026-02-28T00:00:00Z', '2026-03-31T00:00:00Z']],
    ['0 0 29 2 *', 'UTC', '2026-03-01T00:00:00Z', ['2028-02-29T00:00:00Z']],
    ['@daily', 'Asia/Kolkata', '2026-03-01T00:00:00Z', ['2026-03-01T18:30:00Z']],
  ])('%s in %s from %s', (cron, zone, from, expected) => {
    expect(series(cron, zone, from, expected.length)).toEqual(expected);
  });

  test('an expression that fits no day has none', () => {
    expect(new CronTimes('0 0 30 2 *', 'UTC').after(0)).toBeUndefined();
  });

  test.each([
    ['', 'UTC', 'cron'],
    ['* * * *', 'UTC', 'cron'],
    ['* * * * * * *', 'UTC', 'cron'],
    ['60 * * * *', 'UTC', 'cron'],
    ['0 24 * * *', 'UTC', 'cron'],
    ['0 5-2 * * *', 'UTC', 'cron'],
    ['*/0 2 * * *', 'UTC', 'cron'],
    ['*/99 2 * * *', 'UTC', 'cron'],
    ['0 0 32 * *', 'UTC', 'cron'],
    ['0 0 * FOO *', 'UTC', 'cron'],
    ['0 ? * * *', 'UTC', 'cron'],
    ['1,,2 3 * * *', 'UTC', 'cron'],
    ['@reboot', 'UTC', 'cron'],
    ['2026-01-01T00:00:00', 'UTC', 'cron'],
    ['* * * * *', 'Mars/Olympus', 'timezone'],
    ['* * * * *', '+02:00', 'timezone'],
    ['* * * * *', '', 'timezone'],
  ])('%j in %j is refused for its %s', (cron, zone, field) => {
    expect(() => new CronTimes(cron, zone)).toThrow(CronProblem);
    try {
      new CronTimes(cron, zone);
    } catch (error) {
      expect((error as CronProblem).field).toBe(field);
    }
  });

  test.each([
    ['0 0 1 13 *', 'Invalid value for month: 13'],
    ['0 0 0 * *', 'Invalid value for day: 0'],
    ['0 0 32 * *', 'Invalid value for day: 32'],
    ['0 0 32W * *', 'Invalid value for nearestWeekdays: 32'],
    ['60 * * * *', 'Invalid value for minute: 60'],
    ['0 0 * * 8', 'Invalid value for dayOfWeek: 8'],
  ])('%j is refused with the number that was written', (cron, message) => {
    expect(() => new CronTimes(cron, 'UTC')).toThrow(message);
  });

  const expressions = fc.constantFrom(
    '30 2 * * *', '*/10 2 * * *', '0 */2 * * *', '*/15 * * * *', '0 * * * *', '5,35 1-3 * * *', '0 0 1 * *', '15 30 1,2 * * *', '0 0 L * *', '45 1 * * SUN',
  ); // prettier-ignore
  const zones = fc.constantFrom(
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'UTC',
    'Africa/Cairo',
  );
  /** Days around the changes of the clocks in 2026, both ways. */
  const moments = fc.oneof(
    fc.integer({ min: ms('2026-03-01T00:00:00Z'), max: ms('2026-04-30T00:00:00Z') }),
    fc.integer({ min: ms('2026-09-25T00:00:00Z'), max: ms('2026-11-08T00:00:00Z') }),
  );

  test('whatever the moment it is asked from, the times are the same ones, forwards and backwards', () => {
    fc.assert(
      fc.property(
        expressions,
        zones,
        moments,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (cron, zone, from, share) => {
          const times = new CronTimes(cron, zone);
          const next = times.after(from);
          if (next === undefined) throw new Error('none');
          expect(next).toBeGreaterThan(from);
          expect(times.after(from + Math.floor(share * (next - from - 1)))).toBe(next);
          expect(times.until(next, 1)).toEqual([next]);
          expect(times.until(next - 1, 1)[0]).toBeLessThanOrEqual(from);
        },
      ),
      { numRuns: 300 },
    );
  });
});
