/** Milliseconds of a day; UTC has no others. */
const DAY_MS = 86_400_000;

/** A day in UTC, counted from 1970-01-01. */
export type Day = number;

/** The day of a moment, in ms since 1970. */
export function dayOf(ms: number): Day {
  return Math.floor(ms / DAY_MS);
}

/** The smallest id of a day: a UUID v7 begins with its 48 bits of milliseconds, and uuids sort bytewise. */
export function firstIdOf(day: Day): string {
  const hex = (day * DAY_MS).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** `tasks_20261129` */
export function partitionName(table: string, day: Day): string {
  return `${table}_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/** The day in a name made by {@link partitionName}; null for any other name. */
export function dayOfPartition(table: string, partition: string): Day | null {
  const match = /^_(\d{4})(\d{2})(\d{2})$/.exec(partition.slice(table.length));
  if (!partition.startsWith(table) || !match) return null;
  const ms = Date.parse(`${match[1]}-${match[2]}-${match[3]}T00:00:00Z`);
  return Number.isNaN(ms) ? null : dayOf(ms);
}
