import type { Rng } from './backoff.js';

/**
 * A generator that gives the same numbers for the same seed, everywhere and for ever: decisions are replayed by it. It is
 * mulberry32 (Tommy Ettinger): good enough to spread choices, useless for secrets, and eight lines long.
 * @param seed 32 bits of it count
 */
export function seeded(seed: number): Rng {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Positions below `n` in random order, each once; a Fisher-Yates shuffle that remembers only what it moved. */
export function shuffled(n: number, rng: Rng): () => number {
  const moved = new Map<number, number>();
  let next = 0;
  return () => {
    const at = next + Math.floor(rng() * (n - next));
    const drawn = moved.get(at) ?? at;
    moved.set(at, moved.get(next) ?? next);
    next++;
    return drawn;
  };
}
