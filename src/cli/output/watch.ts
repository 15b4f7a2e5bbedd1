import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../usage-error.js';
import type { Output } from './output.js';

/**
 * Shows something once, or again every `seconds` until Ctrl-C, on a cleared screen.
 * @throws UsageError when nobody is watching
 */
export async function watch(
  out: Output,
  seconds: number | undefined,
  show: () => Promise<void>,
): Promise<void> {
  if (seconds === undefined) return show();
  if (!out.interactive) throw new UsageError('--watch is for terminals; with --json call it again and again');
  for (;;) {
    out.clearScreen();
    await show();
    await sleep(seconds * 1000);
  }
}
