/** How the process ends; `process` in production. */
export interface Ending {
  on(signal: 'SIGTERM' | 'SIGINT', handler: () => void): unknown;
  exit(code: number): void;
}

/**
 * Ends the process on SIGTERM or SIGINT: `stop` runs once, however many signals come, then exit 0.
 *
 * @param graceMs after this long the process ends anyway, with exit code 1.
 * @param stop the ordered shutdown.
 */
export function endOnSignals(ending: Ending, graceMs: number, stop: () => Promise<void>): void {
  let begun = false;
  const end = () => {
    // A second signal is harmless: the shutdown that the first one began goes on.
    if (begun) return;
    begun = true;
    const forced = setTimeout(() => ending.exit(1), graceMs + 1000);
    void stop()
      .then(
        () => 0,
        () => 1,
      )
      .then((code) => {
        clearTimeout(forced);
        ending.exit(code);
      });
  };
  ending.on('SIGTERM', end);
  ending.on('SIGINT', end);
}
