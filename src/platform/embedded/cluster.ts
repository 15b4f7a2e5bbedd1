import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type PostgresBinaries } from './binaries.js';
import { EmbeddedPostgresError, explainFileError, faultFromLog } from './errors.js';
import { chooseRunAs, type RunAs } from './run-as.js';
import { serverCommand } from './server-command.js';

const run = promisify(execFile);
const INITDB_TIMEOUT_MS = 120_000;

/** What is remembered beside the data, in a file only its owner can read. */
export interface ClusterSettings {
  readonly user: string;
  readonly password: string;
  readonly port: number | null;
  /** Set once the application's database exists. */
  readonly database: string | null;
}

/** The files of one embedded server: `<root>/data`, and our settings beside it. */
export class Cluster {
  readonly dataDir: string;
  private readonly settingsFile: string;

  constructor(
    readonly root: string,
    private readonly binaries: PostgresBinaries,
  ) {
    this.dataDir = join(root, 'data');
    this.settingsFile = join(root, 'settings.json');
  }

  /** The account for the server of this directory. @throws EmbeddedPostgresError when there is none */
  runAs(): Promise<RunAs> {
    return chooseRunAs(this.dataDir, [this.binaries.postgres, join(this.dataDir, 'x')]);
  }

  /**
   * Makes the data directory unless it is there. It is made under another name and renamed when complete,
   * so a process killed in the middle leaves nothing that looks like a database.
   * @throws EmbeddedPostgresError
   */
  async ensure(runAs: RunAs): Promise<ClusterSettings> {
    const version = await this.version();
    if (version !== null) {
      await this.refuseOtherVersion(version.trim());
      return this.readSettings();
    }
    const settings: ClusterSettings = {
      user: 'reach',
      password: randomBytes(24).toString('base64url'),
      port: null,
      database: null,
    };
    try {
      await this.removeLeftovers();
      const draft = join(this.root, `data.new-${process.pid}`);
      const passwordFile = join(this.root, `password.new-${process.pid}`);
      try {
        await this.prepare(draft, passwordFile, settings.password, runAs);
        await this.initdb(draft, passwordFile, runAs);
      } finally {
        await rm(passwordFile, { force: true });
      }
      await this.writeSettings(settings);
      await rename(draft, this.dataDir);
      return settings;
    } catch (error) {
      await this.removeLeftovers().catch(() => undefined);
      throw explainFileError(error, this.root);
    }
  }

  /** The major version that wrote the data; null when there is no data yet. */
  private async version(): Promise<string | null> {
    try {
      return await readFile(join(this.dataDir, 'PG_VERSION'), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw explainFileError(error, this.dataDir);
    }
    const names = await readdir(this.dataDir).catch(() => []);
    if (names.length === 0) return null;
    throw new EmbeddedPostgresError(
      'damaged',
      `${this.dataDir} holds files, but no database. Restore it, or move it away to begin anew.`,
    );
  }

  /** Keeps the settings, whole or not at all. */
  async writeSettings(settings: ClusterSettings): Promise<void> {
    const draft = `${this.settingsFile}.new`;
    await writeFile(draft, JSON.stringify(settings, null, 2), { mode: 0o600 });
    await rename(draft, this.settingsFile);
  }

  private async readSettings(): Promise<ClusterSettings> {
    try {
      return JSON.parse(await readFile(this.settingsFile, 'utf8')) as ClusterSettings;
    } catch (error) {
      const explained = explainFileError(error, this.settingsFile);
      if (explained instanceof EmbeddedPostgresError) throw explained;
      throw new EmbeddedPostgresError(
        'damaged',
        `${this.settingsFile} cannot be read, and without the password in it the data in ${this.dataDir} ` +
          'cannot be opened. Restore the file, or move the directory away to begin anew.',
        { cause: error },
      );
    }
  }

  private async refuseOtherVersion(found: string): Promise<void> {
    const { stdout } = await run(this.binaries.postgres, ['--version']).catch(() => ({ stdout: '' }));
    const ours = /(\d+)\.\d+/.exec(stdout)?.[1];
    if (ours === undefined || ours === found) return;
    throw new EmbeddedPostgresError(
      'version_mismatch',
      `The data in ${this.dataDir} was written by Postgres ${found}, and this release brings Postgres ${ours}. ` +
        `Dump it with the old release (pg_dump) and load it into a new directory, or move it away to begin anew.`,
    );
  }

  private async removeLeftovers(): Promise<void> {
    const names = await readdir(this.root);
    const old = names.filter((name) => name.startsWith('data.new-') || name.startsWith('password.new-'));
    await Promise.all(old.map((name) => rm(join(this.root, name), { recursive: true, force: true })));
  }

  private async prepare(draft: string, passwordFile: string, password: string, runAs: RunAs): Promise<void> {
    await mkdir(draft, { mode: 0o700 });
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (!runAs.account) return;
    await chown(draft, runAs.account.uid, runAs.account.gid);
    await chown(passwordFile, runAs.account.uid, runAs.account.gid);
  }

  private async initdb(draft: string, passwordFile: string, runAs: RunAs): Promise<void> {
    const { file, args, options } = serverCommand(
      this.binaries.initdb,
      [
        `--pgdata=${draft}`,
        '--username=reach',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        // The server's own collation: the same order on every machine, whatever locales it has.
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-instructions',
      ],
      runAs,
    );
    try {
      await run(file, args, { ...options, cwd: options.cwd, timeout: INITDB_TIMEOUT_MS });
    } catch (error) {
      const { stderr = '', message } = error as Error & { stderr?: string };
      throw new EmbeddedPostgresError(
        faultFromLog(`${stderr}\n${message}`),
        `Could not make a new database in ${this.dataDir}.\n${stderr || message}`,
        { cause: error },
      );
    }
  }
}
