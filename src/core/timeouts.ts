/** How long a delivery may run where its task does not say: always as long, or by what its agent took of late. */
export type TimeoutRule =
  { fixedMs: number } | { factor: number; minMs: number; maxMs: number; unknownMs: number };

/** How long an agent took of late for a kind of work. */
export interface Taken {
  p95Ms: number | undefined;
  /** Calls that it is taken of. */
  calls: number;
}

/** How long a delivery may run, and by which figures where they are those of its agent. */
export interface Timeout {
  ms: number;
  /** Absent where nothing was measured: a fixed timeout, or too few calls. */
  by?: { p95Ms: number; calls: number; factor: number };
}

/** Below this many, the 95th of a hundred is the slowest of them all, or lies beyond it: chance, and no measure. */
export const LEAST_CALLS = 20;

/**
 * The execution timeout of a delivery (SCH-6): `factor` times the P95 of its agent in this kind of work, within bounds; while
 * there are fewer than `LEAST_CALLS`, what holds while P95 is unknown. In whole ms.
 */
export function timeoutOf(rule: TimeoutRule, { p95Ms, calls }: Taken): Timeout {
  if ('fixedMs' in rule) return { ms: rule.fixedMs };
  if (p95Ms === undefined || calls < LEAST_CALLS) return { ms: rule.unknownMs };
  const { factor, minMs, maxMs } = rule;
  const ms = Math.min(Math.max(Math.ceil(p95Ms * factor), minMs), maxMs);
  return { ms, by: { p95Ms: Math.round(p95Ms), calls, factor } };
}

const seconds = (ms: number): string => `${Number((ms / 1000).toFixed(ms < 100_000 ? 1 : 0))} s`;

/** Where it comes from, for people: "12.5 s: 1.5 x P95 of 8.3 s over 214 calls". */
export function timeoutWords({ ms, by }: Timeout): string {
  if (by === undefined) return seconds(ms);
  const { p95Ms, calls, factor } = by;
  const plain = p95Ms * factor;
  // P95 is kept in whole ms, the timeout was rounded after it was stretched.
  const bound = ms > plain + factor ? 'at least, as ' : ms < plain - factor ? 'at most, as ' : '';
  return `${seconds(ms)}: ${bound}${factor} x P95 of ${seconds(p95Ms)} over ${calls} calls`;
}
