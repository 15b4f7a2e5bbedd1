import { StartError } from '../lifecycle/start-error.js';

/** What kept the embedded server from running; each one has its own advice in the message. */
export type EmbeddedPostgresFault =
  | 'in_use'
  | 'unsupported_platform'
  | 'binaries_missing'
  | 'not_writable'
  | 'not_reachable'
  | 'disk_full'
  | 'version_mismatch'
  | 'no_user'
  | 'damaged'
  | 'port_busy'
  | 'still_running'
  | 'start_failed';

/** The embedded Postgres could not be started or stopped; the message is meant for the person at the terminal. */
export class EmbeddedPostgresError extends StartError {
  override readonly name = 'EmbeddedPostgresError';

  constructor(
    readonly fault: EmbeddedPostgresFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Turns a file system error on `path` into one that says what to do; anything else is passed through.
 *
 * @param made the path was to be made, so that one that is not there cannot be
 */
export function explainFileError(error: unknown, path: string, made = false): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new EmbeddedPostgresError('disk_full', `No space left on the disk that holds ${path}.`, {
      cause: error,
    });
  }
  const unusable = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR'].includes(code ?? '');
  if (unusable || (made && code === 'ENOENT')) {
    return new EmbeddedPostgresError(
      'not_writable',
      `${path} cannot be used by this user (${code}). Choose another directory with REACH_DATA_DIR, or set DATABASE_URL.`,
      { cause: error },
    );
  }
  return error;
}

/** Reads the reason of a failed start from the last lines the server (or initdb) wrote. */
export function faultFromLog(log: string): EmbeddedPostgresFault {
  if (/No space left on device|Disk quota exceeded/i.test(log)) return 'disk_full';
  if (/pre-existing shared memory block|lock file "postmaster\.pid" already exists/.test(log)) {
    return 'still_running';
  }
  if (/could not (bind|create any TCP\/IP sockets)|Address already in use/i.test(log)) return 'port_busy';
  if (/database files are incompatible with server|not compatible with this version/.test(log)) {
    return 'version_mismatch';
  }
  if (/Permission denied|Read-only file system|wrong ownership|invalid permissions/i.test(log)) {
    return 'not_writable';
  }
  if (/error while loading shared libraries/.test(log)) return 'binaries_missing';
  if (/could not look up effective user ID/.test(log)) return 'no_user';
  if (/PANIC|could not locate a valid checkpoint record|invalid primary checkpoint/.test(log))
    return 'damaged';
  return 'start_failed';
}
