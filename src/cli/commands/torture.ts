import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { CommandFailed, UsageError } from '../usage-error.js';

/** A program of its own: it starts servers and agents, and kills them. */
const MAIN = fileURLToPath(new URL('../../torture/main.js', import.meta.url));

interface TortureOptions {
  seed?: string;
  minutes: string;
  tasks?: string;
  rate: string;
  mode: string;
  faultEvery: string;
  out?: string;
}

/** `torture`: breaks a throw-away installation in every way, and checks that no task was lost or counted twice. */
export function addTortureCommand(program: Command): void {
  program
    .command('torture')
    .description(
      'break a throw-away installation in every way under load (processes killed, links cut, state lost), and check that every task was kept, ended once and counted once',
    )
    .option(
      '--seed <n>',
      'what follows from it: tasks, faults and their times (default: a new one, which is printed)',
    )
    .option('--minutes <t>', 'how long', '2')
    .option('--tasks <m>', 'most tasks (default: as many as fit)')
    .option('--rate <r>', 'tasks a second', '50')
    .option(
      '--mode <mode>',
      '"embedded" (one process) or "distributed" (three, with redis-server)',
      'embedded',
    )
    .option('--fault-every <ms>', 'mean time between two faults; 0: none', '5000')
    .option(
      '--out <dir>',
      'where ledgers and report go (default: a temporary directory, kept when something is found)',
    )
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing broke, 1 an invariant was broken or the run could not go on, 2 called wrongly.\nNo installation of yours is touched: all servers are its own, on free ports.',
    )
    .action(async (options: TortureOptions) => {
      const args = argumentsOf(options);
      requireAllThatIsNeeded(options.mode);
      const child = spawn(process.execPath, [MAIN, ...args], { stdio: 'inherit' });
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code !== 0) throw new CommandFailed();
    });
}

function argumentsOf(options: TortureOptions): string[] {
  const numbers = { minutes: options.minutes, rate: options.rate, 'fault-every': options.faultEvery };
  const given = { seed: options.seed, tasks: options.tasks, ...numbers };
  const flags = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (/^\d+(\.\d+)?$/.test(value)) return [`--${name}`, value];
    throw new UsageError(`--${name} ${value} is not a number of at least 0`);
  });
  return [...flags, '--mode', options.mode, ...(options.out === undefined ? [] : ['--out', options.out])];
}

/** @throws UsageError, CommandFailed: what is missing, and how it is had */
function requireAllThatIsNeeded(mode: string): void {
  if (mode !== 'embedded' && mode !== 'distributed')
    throw new UsageError(`--mode ${mode}: it is "embedded" or "distributed"`);
  if (process.platform !== 'linux')
    throw new CommandFailed(
      'torture runs on Linux only: it needs its signals and its clock (a container will do)',
    );
  const needed = mode === 'embedded' ? [] : ['redis-server', 'redis-cli'];
  const missing = needed.filter(
    (name) => spawnSync(name, ['--version'], { env: process.env }).error !== undefined,
  );
  if (missing.length > 0)
    throw new CommandFailed(
      `--mode distributed starts a Redis of its own, and ${missing.join(' and ')} cannot be run; ` +
        'install it (Debian: "apt-get install redis-server redis-tools"), or use --mode embedded, which needs none',
    );
  if (!existsSync(MAIN))
    throw new CommandFailed(`${MAIN} is not there: build all of it with "npm run build"`);
}
