/** Edit distance (Levenshtein, two rows). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The known name closest to `wanted`, or undefined when none is near enough to be a slip of the pen. */
export function nearest(wanted: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(wanted.length / 4)) + 1;
  for (const name of known) {
    const d = distance(wanted, name);
    if (d < least) {
      least = d;
      best = name;
    }
  }
  return best;
}
