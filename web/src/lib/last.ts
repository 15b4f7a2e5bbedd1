/** Lengths of time that lists can be narrowed to, by their names in addresses. */
export const LAST = { '15m': 900_000, '1h': 3_600_000, '24h': 86_400_000 } as const;

/** The length of a name; undefined: at any time. */
export function lastMs(name: string): number | undefined {
  return name in LAST ? LAST[name as keyof typeof LAST] : undefined;
}
