import { type SpawnOptions } from 'node:child_process';
import { type RunAs } from './run-as.js';

/** How to start one of the server's binaries under the chosen account. */
export interface ServerCommand {
  readonly file: string;
  readonly args: string[];
  readonly options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd' | 'env' | 'windowsHide'>;
}

/**
 * Puts account, environment and working directory around a binary. The environment is built anew: a PGDATA,
 * PGOPTIONS or LD_PRELOAD meant for something else must not reach the server, and its messages are read by
 * us, so they are in English.
 */
export function serverCommand(binary: string, args: readonly string[], runAs: RunAs): ServerCommand {
  const windows = process.platform === 'win32';
  const env: NodeJS.ProcessEnv = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
  if (windows) env['SystemRoot'] = process.env['SystemRoot'];
  // Our own working directory may be one that the account cannot enter.
  const options = { env, windowsHide: true, ...(windows ? {} : { cwd: '/' }) };
  const [first, ...rest] = [...runAs.prefix, binary, ...args] as [string, ...string[]];
  if (runAs.prefix.length > 0 || !runAs.account) return { file: first, args: rest, options };
  return { file: first, args: rest, options: { ...options, ...runAs.account } };
}
