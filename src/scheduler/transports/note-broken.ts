/** Pauses before the next try, in ms: together longer than a restart of PostgreSQL that goes well. */
const PAUSES_MS = [250, 500, 1000, 2000, 4000];

/**
 * Notes that a session broke, again where the ledger did not take it: until then its agent looks as if it were there,
 * and nothing else tells before its heartbeat is overdue.
 * @param isMoot whether the agent is back, or we are leaving, so that there is nothing to note any more
 * @throws the error of the last try
 */
export async function noteBroken(
  note: () => Promise<void>,
  isMoot: () => boolean,
  pause: (ms: number) => Promise<void> = unhurried,
): Promise<void> {
  for (const ms of PAUSES_MS) {
    try {
      return await note();
    } catch {
      await pause(ms);
      if (isMoot()) return;
    }
  }
  await note();
}

/** A pause that keeps no process alive. */
function unhurried(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
