/** Numbers in [0, 1) that follow from a seed alone. */
export type Random = () => number;

/**
 * A generator for one purpose of a run: other purposes of the same seed do not disturb it.
 *
 * @param seed of the run
 * @param purpose anything that names what the numbers are for
 * @returns sfc32 (Chris Doty-Humphrey, PractRand), seeded by FNV-1a of both
 */
export function randomOf(seed: number, purpose: string): Random {
  let hash = 0x811c9dc5;
  for (const char of `${seed}/${purpose}`) {
    hash ^= char.codePointAt(0) ?? 0;
    hash = Math.imul(hash, 0x01000193);
  }
  let [a, b, c, counter] = [hash | 0, (hash ^ 0x9e3779b9) | 0, (seed ^ 0x243f6a88) | 0, 1];
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  // The first numbers still show the seed.
  for (let i = 0; i < 12; i++) next();
  return next;
}

/** A whole number in [from, to]. */
export function between(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

/** One of the things. */
export function oneOf<T>(random: Random, things: readonly T[]): T {
  const found = things[Math.floor(random() * things.length)];
  if (found === undefined) throw new RangeError('there is nothing to choose from');
  return found;
}

/** The things in another order. */
export function shuffled<T>(random: Random, things: readonly T[]): T[] {
  const order = [...things];
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j] as T, order[i] as T];
  }
  return order;
}
