import { Cron } from 'croner';

/*
 * When a cron expression fires, in its time zone. What happens where clocks are changed:
 * - An expression that names its hours follows the clock on the wall. A time that the clock leaps over fires once, right
 *   after the leap (several of them: once together); one that the clock shows twice fires once, the first time.
 * - One for every hour (`*`) follows the time that passes: every 15 minutes are 15 minutes, whatever the clock shows.
 * croner does this for expressions without `*` and steps in hours, minutes and seconds ("no-wildcard"), so those of the
 * first kind are written out first.
 */

/** What is wrong with an expression or a time zone: `field` names which. */
export class CronProblem extends Error {
  constructor(
    readonly field: 'cron' | 'timezone',
    message: string,
  ) {
    super(message);
  }
}

const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** The fire times of one expression. Times are in Unix ms, whole seconds. */
export class CronTimes {
  private readonly cron: Cron;

  /**
   * @param expression five fields, or six with seconds first, or a nickname such as `@daily`
   * @param timezone an IANA name
   * @throws CronProblem
   */
  constructor(expression: string, timezone: string) {
    requireZone(timezone);
    const fields = fieldsOf(expression);
    try {
      this.cron = new Cron(writtenOut(fields), {
        timezone,
        paused: true,
        mode: '6-part',
        fixedTimeRule: 'no-wildcard',
      });
    } catch (error) {
      throw new CronProblem('cron', reasonOf(error as Error));
    }
  }

  /** The first fire time after `ms`; undefined: there is none. */
  after(ms: number): number | undefined {
    return this.cron.nextRun(new Date(ms))?.getTime();
  }

  /** The first `count` fire times after `ms`. */
  series(ms: number, count: number): number[] {
    return this.cron.nextRuns(count, new Date(ms)).map((date) => date.getTime());
  }

  /** Up to `count` fire times at or before `ms`, the oldest first. */
  until(ms: number, count: number): number[] {
    const past = new Date(Math.floor(ms / 1000) * 1000 + 1000);
    return this.cron
      .previousRuns(count, past)
      .map((date) => date.getTime())
      .reverse();
  }
}

/** What the parser says; it counts months and days from 0. */
function reasonOf({ message }: Error): string {
  return message
    .replace(/^CronPattern: /, '')
    .replace(
      /(for (?:month|day|nearestWeekdays): )(-?\d+)$/,
      (_, text: string, n: string) => text + (Number(n) + 1),
    );
}

function requireZone(timezone: string): void {
  try {
    // Offsets are taken by Intl too, but are no zones: nobody who writes one means "without summer time, for ever".
    if (/^[+-]/.test(timezone)) throw new RangeError();
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    throw new CronProblem(
      'timezone',
      `"${timezone}" is not an IANA time zone, such as Europe/Berlin, or UTC`,
    );
  }
}

/** Seconds, minutes, hours, day of the month, month, day of the week. */
function fieldsOf(expression: string): string[] {
  const text = expression.trim();
  const fields = (NICKNAMES[text.toLowerCase()] ?? text).split(/\s+/);
  if (text.startsWith('@') && fields.length === 1)
    throw new CronProblem('cron', `there is no ${text}; there are ${Object.keys(NICKNAMES).join(', ')}`);
  if (fields.length === 5) fields.unshift('0');
  if (fields.length !== 6)
    throw new CronProblem(
      'cron',
      `has ${text === '' ? 0 : fields.length} fields; there are five (minute, hour, day of the month, month, ` +
        'day of the week), or six with seconds first',
    );
  if (fields.slice(0, 3).some((field) => field.includes('?')))
    throw new CronProblem('cron', '"?" stands for a day only');
  return fields;
}

function writtenOut(fields: string[]): string {
  const [second, minute, hour, ...days] = fields as [string, string, string, ...string[]];
  if (hour === '*') return fields.join(' ');
  return [spelled(second, 60), spelled(minute, 60), spelled(hour, 24), ...days].join(' ');
}

/** The same field without `*` and steps; what is not understood is left for the parser to refuse. */
function spelled(field: string, size: number): string {
  return field
    .split(',')
    .map((part) => {
      const [, range = '', from, to, step] = /^(\*|(\d+)-(\d+))(?:\/(\d+))?$/.exec(part) ?? [];
      const by = Number(step ?? 1);
      const first = range === '*' ? 0 : Number(from);
      const last = range === '*' ? size - 1 : Number(to);
      if (range === '' || by < 1 || by > size || first > last || last >= size) return part;
      const values: number[] = [];
      for (let value = first; value <= last; value += by) values.push(value);
      return values.join(',');
    })
    .join(',');
}
