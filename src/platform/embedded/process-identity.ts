import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

/**
 * A pid alone does not name a process: pids are used again, at once in a container where everything is
 * pid 1. The moment it started, kept beside it, does.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

/** The identity of this very process. */
export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startedAt: startedAt(process.pid) ?? 'unknown' };
}

/** True while exactly this process lives; a zombie counts as dead, it can write nothing any more. */
export function isAlive(identity: ProcessIdentity): boolean {
  const now = startedAt(identity.pid);
  return (
    now !== null && (now === identity.startedAt || now === 'unknown' || identity.startedAt === 'unknown')
  );
}

/** When the process with this pid started, in the system's own notation; null when there is none. */
export function startedAt(pid: number): string | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives and belongs to someone else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return null;
  }
  if (process.platform === 'linux') return startedAtLinux(pid);
  if (process.platform === 'win32') return 'unknown';
  return startedAtPs(pid);
}

/** True when the process is the Postgres server of this data directory. */
export function isPostgresOf(pid: number, dataDir: string): boolean {
  const command = commandOf(pid);
  if (command === null || !command.includes('postgres')) return false;
  if (command.includes(dataDir)) return true;
  try {
    // The tree may have been moved since: a server's working directory is its data directory.
    return readlinkSync(`/proc/${pid}/cwd`) === dataDir;
  } catch {
    return false;
  }
}

function startedAtLinux(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command name is in brackets and may itself hold blanks and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot}/${fields[19] ?? ''}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : 'unknown';
  }
}

function startedAtPs(pid: number): string | null {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}

function commandOf(pid: number): string | null {
  try {
    if (process.platform === 'linux') {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    }
    if (process.platform === 'win32') {
      return execFileSync('tasklist', ['/FI', `PID eq ${pid}`, '/NH'], { encoding: 'utf8' });
    }
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return null;
  }
}
