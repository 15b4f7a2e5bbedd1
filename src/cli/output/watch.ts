import { setTimeout as sleep } from 'node:timers/promises';
import { explainError } from '../explain-error.js';
import { UsageError } from '../usage-error.js';
import type { Output } from './output.js';

/**
 * Shows something once, or again every `seconds` until Ctrl-C, on a cleared screen. Once it was shown, a failure is
 * told beneath what was seen last, and it is tried again.
 * @throws UsageError when nobody is watching, or what `show` throws at first
 */
export async function watch(
  out: Output,
  seconds: number | undefined,
  show: () => Promise<void>,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<void> {
  if (seconds === undefined) return show();
  if (!out.interactive) throw new UsageError('--watch is for terminals; with --json call it again and again');
  let seen = await out.framed(show);
  let trouble = '';
  for (;;) {
    out.screen(`${seen}${trouble}`);
    await pause(seconds * 1000);
    try {
      seen = await out.framed(show);
      trouble = '';
    } catch (error) {
      trouble ||= `\nas of ${new Date().toISOString()}; since then: ${explainError(error).message}\n`;
    }
  }
}
