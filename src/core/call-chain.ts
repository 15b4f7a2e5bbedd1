/** So often an agent may stand in one chain of calls. */
export const MOST_PER_AGENT = 5;
/** A longer chain is a cycle of many, whoever is in it. */
export const DEEPEST_CHAIN = 100;

/** The agents that may not be called once more in a chain; sorted. */
export function spentIn(chain: readonly string[]): string[] {
  if (chain.length < MOST_PER_AGENT) return [];
  const counts = new Map<string, number>();
  for (const agent of chain) counts.set(agent, (counts.get(agent) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count >= MOST_PER_AGENT)
    .map(([agent]) => agent)
    .sort();
}
