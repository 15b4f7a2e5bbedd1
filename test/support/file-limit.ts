import { execFileSync } from 'node:child_process';

/**
 * From now on the process opens no file and makes no connection any more; what is open stays so.
 * @returns undoes it
 */
export function denyFiles(pid: number): () => void {
  const prlimit = (...args: string[]) =>
    execFileSync('prlimit', [`--pid=${pid}`, ...args], { encoding: 'utf8' }).trim();
  const before = prlimit('--nofile', '--output=SOFT', '--noheadings', '--raw');
  prlimit('--nofile=3:');
  return () => void prlimit(`--nofile=${before}:`);
}
