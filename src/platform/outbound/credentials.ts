import { lstat, open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ConnectError } from './connect-error.js';

const PREFIX = 'REACH_CREDENTIAL_';
const MOST_BYTES = 64 * 1024;
/** `REACH_CREDENTIAL_X__HOSTS` (for a file, `x.hosts` beside it) names the only hosts that the secret is shown to. */
const HOSTS_VARIABLE = '__HOSTS';
const HOSTS_FILE = '.hosts';

/**
 * Reads the secrets that dependencies and settings name: `env:REACH_CREDENTIAL_X` out of the environment of this process,
 * `file:x` below one folder. They are read for each probe, so that a changed one counts at once, and are
 * kept nowhere.
 */
export class Credentials {
  /** @param directory the folder of files; empty: files are not allowed */
  constructor(
    private readonly directory: string,
    private readonly env: Readonly<Record<string, string | undefined>> = process.env,
  ) {}

  /**
   * The secret behind a reference, for `host` (`name:port`).
   * @throws ConnectError `misconfigured`, which never counts against the target, when it cannot be had
   */
  async read(reference: string, host: string): Promise<string> {
    const [kind, name] = split(reference);
    const hosts =
      kind === 'env' ? this.env[name + HOSTS_VARIABLE] : await this.optionalFile(name + HOSTS_FILE);
    if (hosts !== undefined && !mayGo(hosts, host))
      throw new ConnectError('misconfigured', `${reference} must not be shown to ${host}`);
    const secret = kind === 'env' ? this.variable(name) : await this.file(name);
    if (secret === '') throw new ConnectError('misconfigured', `${reference} is empty`);
    return secret;
  }

  private variable(name: string): string {
    const value = name.startsWith(PREFIX) ? this.env[name] : undefined;
    if (value === undefined)
      throw new ConnectError('misconfigured', `the dispatcher has no credential env:${name}`);
    return value;
  }

  private async optionalFile(name: string): Promise<string | undefined> {
    if (this.directory === '') return undefined;
    // Only one that is not there restricts nothing; one that cannot be read is an error.
    const there = await lstat(join(this.directory, name)).catch((error: NodeJS.ErrnoException) => error.code);
    return there === 'ENOENT' ? undefined : this.file(name);
  }

  private async file(name: string): Promise<string> {
    const missing = (why: string) =>
      new ConnectError('misconfigured', `the dispatcher has no credential file:${name} (${why})`);
    if (this.directory === '') throw missing('REACH_CREDENTIALS_DIR is not set');
    try {
      const directory = await realpath(this.directory);
      // Links are followed (Kubernetes mounts secrets so), but not out of the folder.
      const path = await realpath(join(directory, name));
      if (!path.startsWith(directory + sep)) throw missing('it lies outside of REACH_CREDENTIALS_DIR');
      return await readBounded(path, missing);
    } catch (error) {
      if (error instanceof ConnectError) throw error;
      throw missing((error as NodeJS.ErrnoException).code ?? 'not readable');
    }
  }
}

async function readBounded(path: string, missing: (why: string) => ConnectError): Promise<string> {
  const file = await open(path, 'r');
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw missing('it is no file');
    if (stat.size > MOST_BYTES) throw missing(`it has more than ${MOST_BYTES} bytes`);
    return (await file.readFile('utf8')).replace(/\r?\n$/, '');
  } finally {
    await file.close();
  }
}

function split(reference: string): ['env' | 'file', string] {
  const at = reference.indexOf(':');
  return [reference.slice(0, at) === 'env' ? 'env' : 'file', reference.slice(at + 1)];
}

/** Whether a list of `host`, `host:port` and `*.domain` holds a `host:port`. */
function mayGo(list: string, target: string): boolean {
  const host = target.slice(0, target.lastIndexOf(':')).toLowerCase();
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some(
      (entry) =>
        entry === host ||
        entry === target.toLowerCase() ||
        (entry.startsWith('*.') && host.endsWith(entry.slice(1))),
    );
}
