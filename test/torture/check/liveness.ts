import { GOES_ON } from '../plan/schedule.js';
import type { Check, FaultLine, Indexed } from './history.js';
import { openWindows, overlapMs, type Window } from './windows.js';

/** Something of those that were submitted comes to its end within this. */
const STANDS_STILL_MS = 4000;

export const workGoesOn: Check = {
  name: 'stood_still',
  says: 'Tasks go on to succeed while a fault lasts that leaves somebody to work (others and stalls apart)',
  find: (history) => {
    const { of } = history;
    const succeeded = of.transitions.filter((t) => t.state === 'succeeded').map((t) => t.at);
    return harmless(history).flatMap(({ line, window }) => {
      if (window.to - window.from < STANDS_STILL_MS) return [];
      if (succeeded.some((at) => at > window.from && at < window.to)) return [];
      return [{ what: `nothing succeeded in ${Math.round(window.to - window.from)} ms of ${line.kind}` }];
    });
  },
};

type Start = Extract<FaultLine, { event: 'start' }>;

/** The times of faults that ought to harm nobody, with no other one at the same time. */
function harmless({ of }: Indexed): { line: Start; window: Window }[] {
  const submitted = of.client.filter((c) => c.event === 'call').map((c) => c.at);
  return of.faults.flatMap((line) => {
    if (line.event !== 'start' || !GOES_ON.has(line.kind)) return [];
    const at = (...events: string[]) =>
      of.faults.find((f) => 'n' in f && f.n === line.n && events.includes(f.event))?.at;
    const window = {
      from: at('set') ?? line.at,
      to: Math.min(at('unset') ?? at('stop') ?? 0, submitted.at(-1) ?? 0),
    };
    const others = openWindows(
      of.faults.filter((f) => f.event === 'stall' || ('n' in f && f.n !== line.n)),
      of.bounds.leaseTtlMs,
    );
    return overlapMs(others, window.from, window.to) > 0 ? [] : [{ line, window }];
  });
}
