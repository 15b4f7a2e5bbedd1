import { readdirSync, readFileSync } from 'node:fs';

/* CPU time by process, from /proc. Linux only: elsewhere every figure is 0 and the rates are all there is. */

const TICKS_PER_SECOND = 100;

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function stat(pid) {
  const text = read(`/proc/${pid}/stat`);
  if (!text) return undefined;
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return { parent: fields[1], own: fields[11] + fields[12], waitedFor: fields[13] + fields[14] };
}

/** Ticks of a process, of its living children, and of those that ended. */
function ticksOf(pid) {
  const root = stat(pid);
  if (!root) return 0;
  let ticks = root.own + root.waitedFor;
  for (const name of readdirSync('/proc')) {
    const child = /^\d+$/.test(name) ? stat(name) : undefined;
    if (child?.parent === pid) ticks += child.own;
  }
  return ticks;
}

function machineTicks() {
  const fields = read('/proc/stat').split('\n')[0].split(/\s+/).slice(1).map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = fields;
  return user + nice + system + irq + softIrq;
}

/** @param pids name -> pid; a name whose pid is the parent of many (Postgres) counts with its children */
export function cpuSnapshot(pids, withChildren) {
  const ticks = {};
  for (const [name, pid] of Object.entries(pids)) {
    ticks[name] = withChildren.includes(name) ? ticksOf(pid) : (stat(pid)?.own ?? 0);
  }
  const { user, system } = process.cpuUsage();
  return { atMs: performance.now(), ticks, machine: machineTicks(), ownUs: user + system };
}

/**
 * What was used between two snapshots.
 *
 * @returns seconds by process, and `others`: cores that strangers to the measurement kept busy
 */
export function cpuBetween(a, b) {
  const seconds = (b.atMs - a.atMs) / 1000;
  const used = {};
  let ours = (b.ownUs - a.ownUs) / 1e6;
  for (const name of Object.keys(b.ticks)) {
    used[name] = (b.ticks[name] - a.ticks[name]) / TICKS_PER_SECOND;
    ours += used[name];
  }
  const busy = (b.machine - a.machine) / TICKS_PER_SECOND;
  return { seconds, used, others: Math.max(0, (busy - ours) / seconds) };
}

/** Waits until the machine is idle but for at most `cores`, or for `mostMs`. */
export async function untilQuiet(cores = 0.3, mostMs = 3000) {
  for (const start = performance.now(); performance.now() - start < mostMs;) {
    const before = machineTicks();
    await new Promise((resolve) => setTimeout(resolve, 300));
    if ((machineTicks() - before) / TICKS_PER_SECOND / 0.3 < cores) return;
  }
}
