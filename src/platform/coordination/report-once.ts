import { type ErrorReporter } from './coordinator.js';

/**
 * A reporter that says the same thing only once in `quietMs`: a Redis that is away fails every attempt
 * alike, many times a second.
 * @param clock monotonic milliseconds
 */
export function reportOnce(report: ErrorReporter, quietMs: number, clock: () => number): ErrorReporter {
  const saidAtMs = new Map<string, number>();
  return (message, error) => {
    const text = `${message}: ${error instanceof Error ? error.message : ''}`;
    const lastMs = saidAtMs.get(text);
    if (lastMs !== undefined && clock() - lastMs < quietMs) return;
    // Texts may hold addresses and ids; forgetting them all now and then keeps the map small.
    if (saidAtMs.size >= 100) saidAtMs.clear();
    saidAtMs.set(text, clock());
    report(message, error);
  };
}
