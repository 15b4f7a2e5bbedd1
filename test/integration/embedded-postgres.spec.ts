import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { findBinaries } from '../../src/platform/embedded/binaries.js';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/platform/embedded/embedded-postgres.js';
import { startedAt } from '../../src/platform/embedded/process-identity.js';
import { newDataDir, silentLogger as logger } from '../support/postgres.js';

interface Answer {
  url: string;
  pid: number;
  error?: string;
  fault?: string;
}

const SCRIPT = fileURLToPath(new URL('../support/embedded-process.mjs', import.meta.url));
const asRoot = process.getuid?.() === 0;
const NOBODY = { uid: 65_534, gid: 65_534 };

/** Another process on a directory, and the first line it says. */
async function otherProcess(
  dataDir: string,
  account: { uid?: number; gid?: number } = {},
): Promise<{ child: ChildProcess; answer: Answer }> {
  const child = spawn(process.execPath, [SCRIPT, dataDir], {
    ...account,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], TMPDIR: tmpdir() },
  });
  const said = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const silent = once(child, 'exit').then(([code]) => {
    throw new Error(`The other process ended without a word (exit code ${String(code)})`);
  });
  const [line] = await Promise.race([said, silent]);
  silent.catch(() => undefined);
  return { child, answer: JSON.parse(line) as Answer };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Resolves when a process that is not our child is gone. */
async function gone(pid: number): Promise<void> {
  while (startedAt(pid) !== null) await new Promise((resolve) => setImmediate(resolve));
}

async function ask<T>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
}

/** Asks until the server answers again. */
async function askUntilAnswered<T>(url: string, text: string): Promise<T[]> {
  for (;;) {
    const rows = await ask<T>(url, text).catch(() => null);
    if (rows) return rows;
  }
}

describe('embedded Postgres', () => {
  let dataDir: string;
  let server: EmbeddedPostgres | undefined;
  const children: ChildProcess[] = [];
  const start = async (): Promise<EmbeddedPostgres> =>
    (server = await startEmbeddedPostgres({ dataDir, logger }));
  const other = async (account = {}): Promise<{ child: ChildProcess; answer: Answer }> => {
    const found = await otherProcess(dataDir, account);
    children.push(found.child);
    return found;
  };

  beforeEach(async () => {
    dataDir = await newDataDir();
  });

  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGTERM');
      await ended(child);
    }
    await server?.stop();
    server = undefined;
    await rm(dataDir, { recursive: true, force: true });
  });

  it('makes a database from nothing, keeps it, and stops without a trace', async () => {
    await rm(join(dataDir, 'postgres'), { recursive: true });
    const { url, pid } = await start();
    await ask(url, `CREATE TABLE kept AS SELECT 'žluťoučký kůň'::text AS what`);
    const secret = await stat(join(dataDir, 'postgres', 'settings.json'));
    expect(secret.mode & 0o777).toBe(0o600);
    await server?.stop();
    expect(startedAt(pid)).toBeNull();
    await expect(stat(join(dataDir, 'postgres', 'data', 'postmaster.pid'))).rejects.toThrow('ENOENT');
    await expect(stat(join(dataDir, 'postgres', 'owner.lock'))).rejects.toThrow('ENOENT');

    expect((await start()).url).toBe(url);
    expect(await ask(url, 'SELECT what FROM kept')).toEqual([{ what: 'žluťoučký kůň' }]);
  });

  it('promises what the ledger needs, on the loopback interface only, with a password', async () => {
    const { url } = await start();
    const [settings] = await ask(
      url,
      `SELECT current_setting('synchronous_commit') AS commit, current_setting('fsync') AS fsync,
              current_setting('listen_addresses') AS listen, current_setting('server_encoding') AS encoding`,
    );
    expect(settings).toEqual({ commit: 'on', fsync: 'on', listen: '127.0.0.1', encoding: 'UTF8' });
    await expect(ask(url.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow('password');
  });

  it('refuses a second start on the directory, and names the owner', async () => {
    await start();
    await expect(startEmbeddedPostgres({ dataDir, logger })).rejects.toThrow(
      `this process (pid ${process.pid})`,
    );
    const { answer } = await other();
    expect(answer).toMatchObject({ fault: 'in_use' });
    expect(answer.error).toContain(`in use by process ${process.pid}`);
  });

  it('lets one of several that start at the same time have the directory', async () => {
    const starts = await Promise.allSettled([start(), start(), start()].map((found) => found));
    const won = starts.filter(({ status }) => status === 'fulfilled');
    expect(won).toHaveLength(1);
    const first = won[0] as PromiseFulfilledResult<EmbeddedPostgres>;
    server = first.value;
  });

  it('ends the server of a process that was killed', async () => {
    const { child, answer } = await other();
    await ask(answer.url, 'CREATE TABLE kept AS SELECT 1 AS one');
    child.kill('SIGKILL');
    await gone(answer.pid);

    const { url } = await start();
    expect(await ask(url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
  });

  it('takes the place of a killed process at once, its server still running and nobody watching it', async () => {
    const { child, answer } = await other();
    await ask(answer.url, 'CREATE TABLE kept AS SELECT 1 AS one');
    for (const pid of watchdogsOf(answer.pid)) process.kill(pid, 'SIGKILL');
    child.kill('SIGKILL');
    await ended(child);
    expect(startedAt(answer.pid)).not.toBeNull();

    const { url } = await start();
    expect(startedAt(answer.pid)).toBeNull();
    expect(await ask(url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
  });

  it('is not misled by a pid file that names another process', async () => {
    const { url } = await start();
    await server?.stop();
    const pidFile = join(dataDir, 'postgres', 'data', 'postmaster.pid');
    await writeFile(
      pidFile,
      `${process.pid}\n${join(dataDir, 'postgres', 'data')}\n1\n1\n\n127.0.0.1\n0 0\nready\n`,
    );
    await start();
    expect(await ask(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('is not misled by an owner that died, whose pid belongs to another process now', async () => {
    const lock = { pid: process.pid, startedAt: 'before the last boot', nonce: 'x' };
    await writeFile(join(dataDir, 'postgres', 'owner.lock'), JSON.stringify(lock));
    await start();
    await server?.stop();
    await writeFile(join(dataDir, 'postgres', 'owner.lock'), 'not JSON');
    await start();
  });

  it('brings a killed server back at the same address, with all that was committed', async () => {
    const { url, pid } = await start();
    await ask(url, 'CREATE TABLE kept AS SELECT 1 AS one');
    process.kill(pid, 'SIGKILL');
    await gone(pid);
    expect(await askUntilAnswered(url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
    expect(server?.pid).not.toBe(pid);
  });

  it('can be stopped while it is being brought back', async () => {
    const { pid } = await start();
    process.kill(pid, 'SIGKILL');
    await gone(pid);
    await server?.stop();
    expect(await stat(join(dataDir, 'postgres', 'owner.lock')).catch(() => null)).toBeNull();
    await start();
  });

  it('moves to another port when somebody else took the remembered one', async () => {
    const { url } = await start();
    await server?.stop();
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(Number(new URL(url).port), '127.0.0.1', resolve));
    const moved = (await start()).url;
    expect(moved).not.toBe(url);
    expect(await ask(moved, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await new Promise((resolve) => squatter.close(resolve));
  });

  it('says what is wrong with a directory of another version, without its settings, or with none at all', async () => {
    const data = join(dataDir, 'postgres', 'data');
    await writeFile(join(data, 'PG_VERSION'), '15\n');
    await expect(start()).rejects.toMatchObject({ fault: 'version_mismatch' });
    await writeFile(join(data, 'PG_VERSION'), '18\n');
    await rm(join(dataDir, 'postgres', 'settings.json'));
    await expect(start()).rejects.toMatchObject({ fault: 'damaged' });
    const file = join(dataDir, 'a-file');
    await writeFile(file, '');
    await expect(startEmbeddedPostgres({ dataDir: file, logger })).rejects.toMatchObject({
      fault: 'not_writable',
    });
  });

  it('says what is wrong with a machine that it has no server for', async () => {
    await expect(findBinaries('linux', 'riscv64')).rejects.toMatchObject({ fault: 'unsupported_platform' });
    const elsewhere = process.platform === 'darwin' ? 'linux' : 'darwin';
    await expect(findBinaries(elsewhere, 'x64')).rejects.toMatchObject({ fault: 'binaries_missing' });
  });

  (asRoot ? describe : describe.skip)('under root', () => {
    it('starts in a directory that only root can enter', async () => {
      await chmod(dataDir, 0o700);
      const { url, pid } = await start();
      expect(await ask(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      expect(await readFile(`/proc/${pid}/status`, 'utf8')).not.toMatch(/^Uid:\s+0/m);
    });

    it('starts for a plain user, and root later runs it as that user', async () => {
      await rm(join(dataDir, 'postgres'), { recursive: true });
      await chown(dataDir, NOBODY.uid, NOBODY.gid);
      const { child, answer } = await other(NOBODY);
      expect(await ask(answer.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      child.kill('SIGTERM');
      await ended(child);

      const { pid } = await start();
      expect(await readFile(`/proc/${pid}/status`, 'utf8')).toMatch(
        new RegExp(`^Uid:\\s+${NOBODY.uid}`, 'm'),
      );
    });

    it('tells a plain user that the directory cannot be written', async () => {
      const closed = await mkdtemp(join(tmpdir(), 'agent-reach-test-closed-'));
      await chmod(closed, 0o755);
      const { child, answer } = await otherProcess(join(closed, '.reach'), NOBODY);
      expect(answer).toMatchObject({ fault: 'not_writable' });
      child.stdin?.end();
      await ended(child);
      await rm(closed, { recursive: true });
    });

    it('says that the disk is full, and leaves nothing half made', async () => {
      const small = await mkdtemp(join(tmpdir(), 'agent-reach-test-small-'));
      await chmod(small, 0o711);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m,mode=711', 'tmpfs', small]);
      try {
        await expect(startEmbeddedPostgres({ dataDir: small, logger })).rejects.toMatchObject({
          fault: 'disk_full',
        });
        expect(await readdir(join(small, 'postgres'))).toEqual([]);
      } finally {
        execFileSync('umount', [small]);
        await rm(small, { recursive: true });
      }
    });
  });
});

function watchdogsOf(pid: number): number[] {
  const found = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return found
    .filter((line) => line.includes(`reach-postgres-watchdog ${pid} `))
    .map((line) => Number(line.trim().split(' ')[0]));
}
