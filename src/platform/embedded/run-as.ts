import { access, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EmbeddedPostgresError } from './errors.js';

/** The account the server runs under, and a command to put before it when an account alone is not enough. */
export interface RunAs {
  /** Absent: as ourselves. */
  readonly account?: { readonly uid: number; readonly gid: number };
  readonly prefix: readonly string[];
}

interface Account {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv'];

/**
 * Postgres refuses to run as root. When we are root it runs as, in this order: the owner of the data that
 * is there already, the user behind sudo, `postgres`, `nobody`. No account is ever created. `paths` must be
 * enterable for that account; when they are not (a checkout under /root), the one capability that is needed
 * for it is handed down, and nothing else of root.
 * @throws EmbeddedPostgresError `no_user` or `not_reachable`
 */
export async function chooseRunAs(dataDir: string, paths: readonly string[]): Promise<RunAs> {
  if (process.platform === 'win32' || process.getuid?.() !== 0) return { prefix: [] };
  const account = await chooseAccount(dataDir);
  if (!account) {
    throw new EmbeddedPostgresError(
      'no_user',
      'Postgres refuses to run as root, and there is neither a "postgres" nor a "nobody" account. ' +
        'Run as a plain user, or set DATABASE_URL.',
    );
  }
  const { uid, gid } = account;
  const closed = await firstClosedDirectory(paths, uid, gid);
  if (closed === null) return { account: { uid, gid }, prefix: [] };
  const setpriv = await firstPresent(SETPRIV);
  if (setpriv === null) {
    throw new EmbeddedPostgresError(
      'not_reachable',
      `Postgres refuses to run as root, and the account "${account.name}" cannot enter ${closed}. ` +
        'Move the tree, set REACH_DATA_DIR, run as a plain user, or set DATABASE_URL.',
    );
  }
  return {
    account: { uid, gid },
    prefix: [
      setpriv,
      `--reuid=${uid}`,
      `--regid=${gid}`,
      '--clear-groups',
      '--inh-caps=+dac_override',
      '--ambient-caps=+dac_override',
      '--',
    ],
  };
}

async function chooseAccount(dataDir: string): Promise<Account | null> {
  const owner = await stat(dataDir).catch(() => null);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, name: `uid ${owner.uid}` };
  const accounts = await readAccounts();
  const sudoer = accounts.find((found) => String(found.uid) === process.env['SUDO_UID'] && found.uid !== 0);
  return sudoer ?? byName(accounts, 'postgres') ?? byName(accounts, 'nobody') ?? null;
}

function byName(accounts: readonly Account[], name: string): Account | undefined {
  return accounts.find((found) => found.name === name && found.uid > 0);
}

async function readAccounts(): Promise<Account[]> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}

/** The first directory on the way to one of the paths that the account may not enter, or null. */
async function firstClosedDirectory(
  paths: readonly string[],
  uid: number,
  gid: number,
): Promise<string | null> {
  const directories = new Set<string>();
  for (const path of paths) {
    for (let at = dirname(path); !directories.has(at); at = dirname(at)) directories.add(at);
  }
  for (const directory of [...directories].sort()) {
    const found = await stat(directory).catch(() => null);
    if (!found) continue;
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0) return directory;
  }
  return null;
}

async function firstPresent(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    const present = await access(path).then(
      () => true,
      () => false,
    );
    if (present) return path;
  }
  return null;
}
