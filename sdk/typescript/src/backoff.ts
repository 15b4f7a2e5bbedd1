/**
 * Exponential backoff with full jitter: a uniform pick from [0, min(cap, base * 2^attempt)).
 * Formula: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 *
 * @param attempt 0 for the first wait
 * @param random a number from [0, 1)
 * @returns milliseconds
 */
export function fullJitterMs(attempt: number, baseMs: number, capMs: number, random: number): number {
  const ceiling = Math.min(capMs, baseMs * 2 ** Math.min(attempt, 30));
  return Math.floor(ceiling * random);
}

/** Resolves after `ms`, or at once when `signal` fires; never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Waits for `work`, but at most `ms`; leaves no timer behind. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  await Promise.race([work, pause(ms, enough.signal)]);
  enough.abort();
}
