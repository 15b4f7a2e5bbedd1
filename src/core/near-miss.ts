/** Names shorter than this are alike by chance. */
const SHORTEST = 4;
/** From this length on, two slips are still one word. */
const LONG = 10;

/** A known name that was probably meant, and how many offer it. */
export interface NearMiss {
  name: string;
  offered: number;
}

/**
 * The known name that `name` is probably a slip of: one letter wrong, missing, too many or swapped (two in long names).
 * Names that differ in their digits alone are meant to.
 * @param known how many offer each name; `name` itself is not among them
 */
export function nearMiss(name: string, known: Iterable<readonly [string, number]>): NearMiss | undefined {
  if (name.length < SHORTEST) return undefined;
  const allowed = name.length < LONG ? 1 : 2;
  const lettersOnly = withoutDigits(name);
  let best: (NearMiss & { slips: number }) | undefined;
  for (const [other, offered] of known) {
    if (Math.abs(other.length - name.length) > allowed || withoutDigits(other) === lettersOnly) continue;
    const slips = slipsBetween(name, other);
    if (slips > allowed) continue;
    const better = slips - (best?.slips ?? Infinity) || (best?.offered ?? 0) - offered;
    if (best === undefined || better < 0) best = { name: other, offered, slips };
  }
  return best && { name: best.name, offered: best.offered };
}

const withoutDigits = (text: string): string => text.replace(/\d+/g, '0');

/** Edit distance with swaps of neighbours (optimal string alignment). */
function slipsBetween(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(at(row, j - 1) + (same ? 0 : 1), at(row, j) + 1, at(next, j - 1) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(before, j - 2) + 1);
      next.push(least);
    }
    [before, row] = [row, next];
  }
  return at(row, b.length);
}

const at = (row: readonly number[], i: number): number => row[i] ?? Infinity;
