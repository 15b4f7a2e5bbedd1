import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits a little, and stops at once when the work no longer counts. The agents of the demo compute in
 * milliseconds; they are paced like something that thinks, so that there is a middle to be killed in.
 */
export async function pace(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}
