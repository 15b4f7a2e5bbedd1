import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { EmbeddedPostgresError } from './errors.js';
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.js';

const LOCK_FILE = 'owner.lock';
/** A takeover is three file operations; one that is older than this was left behind by a killed process. */
const TAKEOVER_STALE_MS = 5_000;

/**
 * Who may run the server of one directory. The file names the owner; it is created by link(2), so it is
 * never seen half written, and an owner that died is replaced by rename(2), so it is never absent in
 * between. Postgres has an interlock of its own below this one; this one is there to tell a living owner
 * (refuse, and name it) from an orphaned server (stop it, and go on).
 */
export class DirectoryLock {
  private constructor(
    private readonly path: string,
    private readonly content: string,
  ) {}

  /** Takes the lock. @throws EmbeddedPostgresError `in_use`, naming the pid, while another process owns it. */
  static async acquire(directory: string): Promise<DirectoryLock> {
    const path = join(directory, LOCK_FILE);
    const content = JSON.stringify({ ...ownIdentity(), nonce: randomBytes(8).toString('hex') });
    const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
    await writeFile(draft, content, { mode: 0o644 });
    try {
      for (;;) {
        if (await linked(draft, path)) return new DirectoryLock(path, content);
        const present = await readIfPresent(path);
        if (present === null) continue;
        const owner = parseOwner(present);
        if (owner && isAlive(owner)) throw inUse(directory, owner);
        if (await takeOver(path, present, draft)) return new DirectoryLock(path, content);
        await wait(20);
      }
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** Gives the lock back; does nothing when it is no longer ours. */
  async release(): Promise<void> {
    const present = await readFile(this.path, 'utf8').catch(() => null);
    if (present === this.content) await rm(this.path, { force: true });
  }
}

async function linked(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
  }
  // A file system without hard links: an exclusive create is the next best thing.
  return createdExclusively(path, await readFile(draft, 'utf8'));
}

/** Replaces the dead owner `present`. Only one of several that try may do it: the marker names the owner. */
async function takeOver(path: string, present: string, draft: string): Promise<boolean> {
  const marker = `${path}.takeover`;
  if (!(await createdExclusively(marker, String(process.pid)))) {
    const age = await stat(marker).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    if (age > TAKEOVER_STALE_MS) await rm(marker, { force: true });
    return false;
  }
  try {
    // Inside the marker nobody else replaces the file; what was read before it may be out of date.
    if ((await readIfPresent(path)) !== present) return false;
    await rename(draft, path);
    return true;
  } finally {
    await rm(marker, { force: true });
  }
}

async function readIfPresent(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function createdExclusively(path: string, content: string): Promise<boolean> {
  try {
    await writeFile(path, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function parseOwner(content: string): ProcessIdentity | null {
  try {
    const value = JSON.parse(content) as Partial<ProcessIdentity>;
    if (typeof value.pid !== 'number' || typeof value.startedAt !== 'string') return null;
    return { pid: value.pid, startedAt: value.startedAt };
  } catch {
    return null;
  }
}

function inUse(directory: string, owner: ProcessIdentity): EmbeddedPostgresError {
  const who = owner.pid === process.pid ? `this process (pid ${owner.pid})` : `process ${owner.pid}`;
  return new EmbeddedPostgresError(
    'in_use',
    `The data directory ${directory} is in use by ${who}. ` +
      'Stop it, choose another directory with REACH_DATA_DIR, or set DATABASE_URL and REDIS_URL to run several.',
  );
}
