import type { Rng } from '../../src/core/backoff.js';

/** What an agent makes of a task: after `ms` it has done it, or failed. `Infinity` is no answer. */
export interface Doing {
  ms: number;
  ok: boolean;
}

export interface Work {
  nowMs: number;
  /** How many tasks it holds, this one included. */
  inFlight: number;
  /** How many it began before. */
  begun: number;
  rng: Rng;
}

/** A simulated agent. */
export interface SimAgent {
  id: string;
  slots: number;
  does: (work: Work) => Doing;
  /** Whether work sent to it now is wasted, or slow; for the account, dispatchers never ask. */
  isBad?: (nowMs: number) => boolean;
  /** Whether the centre knows by its lease that it is gone. */
  isGone?: (nowMs: number) => boolean;
}

/** About `ms`: between three quarters and five quarters of it. */
const about = (ms: number, rng: Rng): number => ms * (0.75 + 0.5 * rng());

const during =
  (fromMs: number, toMs: number) =>
  (nowMs: number): boolean =>
    nowMs >= fromMs && nowMs < toMs;

export function steady(id: string, { slots = 4, ms = 100 } = {}): SimAgent {
  return { id, slots, does: ({ rng }) => ({ ms: about(ms, rng), ok: true }) };
}

/** Slower by a factor, for ever or from a moment on. */
export function slow(id: string, { slots = 4, ms = 100, by = 10, fromMs = 0, okShare = 1 } = {}): SimAgent {
  return {
    id,
    slots,
    does: ({ nowMs, rng }) => ({ ms: about(nowMs < fromMs ? ms : ms * by, rng), ok: rng() < okShare }),
    isBad: (nowMs) => nowMs >= fromMs,
  };
}

/** Fails every task in a millisecond, so it always has room. */
export function blackHole(id: string, { slots = 4 } = {}): SimAgent {
  return { id, slots, does: () => ({ ms: 1, ok: false }), isBad: () => true };
}

/** Good, then bad, then good for `everyMs` each. */
export function flapping(id: string, { slots = 4, ms = 100, everyMs = 20_000 } = {}): SimAgent {
  const isBad = (nowMs: number) => Math.floor(nowMs / everyMs) % 2 === 1;
  return {
    id,
    slots,
    does: ({ nowMs, rng }) => ({ ms: about(ms, rng), ok: !isBad(nowMs) }),
    isBad,
  };
}

/** Fails everything for a while, and is well before and after. */
export function recovering(
  id: string,
  { slots = 4, ms = 100, fromMs = 20_000, toMs = 60_000 } = {},
): SimAgent {
  const isBad = during(fromMs, toMs);
  return { id, slots, does: ({ nowMs, rng }) => ({ ms: about(ms, rng), ok: !isBad(nowMs) }), isBad };
}

/** Answers nothing any more from a moment on; its lease ends 10 s later. */
export function dying(id: string, { slots = 4, ms = 100, atMs = 30_000 } = {}): SimAgent {
  return {
    id,
    slots,
    does: ({ nowMs, rng }) => (nowMs < atMs ? { ms: about(ms, rng), ok: true } : { ms: Infinity, ok: false }),
    isBad: (nowMs) => nowMs >= atMs,
    isGone: (nowMs) => nowMs >= atMs + 10_000,
  };
}

/** Comes late, and its first tasks take long: it loads its model with them. */
export function cold(
  id: string,
  { slots = 4, ms = 100, first = 8, firstMs = 3000, fromMs = 30_000 } = {},
): SimAgent {
  return {
    id,
    slots,
    does: ({ begun, rng }) => ({ ms: about(begun < first ? firstMs : ms, rng), ok: true }),
    isGone: (nowMs) => nowMs < fromMs,
  };
}

/** Fails whatever it holds, and what comes in the next 10 s, once it holds more than `most` at a time. */
export function toppling(id: string, { slots = 10, ms = 200, most = 12 } = {}): SimAgent {
  let downUntilMs = 0;
  return {
    id,
    slots,
    does({ nowMs, inFlight, rng }) {
      if (inFlight > most) downUntilMs = nowMs + 10_000;
      return nowMs < downUntilMs ? { ms: 500, ok: false } : { ms: about(ms, rng), ok: true };
    },
  };
}
