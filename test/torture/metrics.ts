/** How tasks came to which state, by the counters of all dispatchers: `accepted`, `succeeded` and the other ends. */
export async function scrape(urls: readonly string[]): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  for (const url of urls) {
    const text = await (await fetch(`${url}/metrics`)).text();
    for (const [, state = '', count] of text.matchAll(
      /^reach_tasks_total\{[^}]*state="(\w+)"[^}]*\} (\S+)$/gm,
    ))
      sums.set(state, (sums.get(state) ?? 0) + Number(count));
  }
  return sums;
}
