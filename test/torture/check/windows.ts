import type { FaultLine } from './history.js';

export interface Window {
  from: number;
  to: number;
}

/**
 * When something was broken: from the beginning of each fault to `afterMs` past its healing, merged where they
 * overlap. A fault that never healed lasts for ever.
 */
export function openWindows(faults: readonly FaultLine[], afterMs: number): Window[] {
  const windows: Window[] = [];
  for (const line of faults) {
    if (line.event === 'stall') windows.push({ from: line.at - line.ms, to: line.at + afterMs });
    if (line.event !== 'start') continue;
    const stop = faults.find((f) => f.event === 'stop' && f.n === line.n);
    windows.push({ from: line.at, to: stop === undefined ? Infinity : stop.at + afterMs });
  }
  return merged(windows);
}

/** How much of [from, to] lies in the windows, which do not overlap each other. */
export function overlapMs(windows: readonly Window[], from: number, to: number): number {
  return windows.reduce((sum, w) => sum + Math.max(0, Math.min(w.to, to) - Math.max(w.from, from)), 0);
}

function merged(windows: Window[]): Window[] {
  const result: Window[] = [];
  for (const window of windows.sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && window.from <= last.to) last.to = Math.max(last.to, window.to);
    else result.push({ ...window });
  }
  return result;
}
