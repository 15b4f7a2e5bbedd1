import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { EmbeddedPostgresError } from './errors.js';
import { type Log } from './log.js';
import { isPostgresOf, startedAt } from './process-identity.js';

const POLL_MS = 20;

/**
 * Makes the directory ready for a new server. Its last owner is dead (we hold the lock), yet its server may
 * still run: that one is stopped, not taken over, since a server that is not our child can be neither
 * waited for nor listened to. A pid file that names something else than a server is removed: Postgres
 * itself would take the other process, or a zombie, for a server.
 * @throws EmbeddedPostgresError `still_running` when the old server cannot be ended
 */
export async function clearOrphan(dataDir: string, logger: Log): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return;
  if (startedAt(pid) === null || !isPostgresOf(pid, dataDir)) {
    logger.info({ pid }, 'Removing the pid file of a server that is no more');
    // A backend that outlived its postmaster is still found by Postgres, through its shared memory.
    await rm(pidFile, { force: true });
    return;
  }
  logger.warn({ pid }, 'Stopping the server that an earlier process left behind');
  for (const [signal, limitMs] of [
    ['SIGINT', 15_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!send(pid, signal, dataDir)) return;
    for (let waitedMs = 0; waitedMs < limitMs; waitedMs += POLL_MS) {
      if (startedAt(pid) === null) return;
      await wait(POLL_MS);
    }
  }
  throw new EmbeddedPostgresError(
    'still_running',
    `The Postgres server ${pid} still runs in ${dataDir} and cannot be stopped.`,
  );
}

function send(pid: number, signal: NodeJS.Signals, dataDir: string): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw new EmbeddedPostgresError(
      'still_running',
      `A Postgres server (pid ${pid}) of another user runs in ${dataDir}; stop it first.`,
      { cause: error },
    );
  }
}
