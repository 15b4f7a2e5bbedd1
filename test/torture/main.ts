import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MUTANTS, mutate, plansOf } from './mutants.js';
import { type Options, optionsOf } from './options.js';
import { replayOf, toMarkdown } from './report.js';
import { run, type RunOptions } from './run.js';

/*
 * Pull any plug: real dispatchers, agents and clients work while a nemesis breaks things; afterwards a checker
 * holds what everybody wrote down against the database. `--seed` makes the same faults and tasks again.
 */

const QUIET_MS = 90_000;
const QUIET_OF_BUGS_MS = 15_000;
const DIST = resolve(import.meta.dirname, '..');

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** @returns the exit code: 1 when something was found */
async function torture(options: Options, out: string): Promise<number> {
  say(`seed ${options.seed}; the same again: ${replayOf(options)}`);
  const report = await run({ ...options, quietMs: QUIET_MS }, out, say);
  await writeFile(join(out, 'report.json'), JSON.stringify(report, undefined, 2));
  await writeFile(join(out, 'report.md'), toMarkdown(report));
  say(toMarkdown(report));
  if (report.violations === 0 && options.out === undefined) await rm(out, { recursive: true, force: true });
  return report.violations === 0 ? 0 : 1;
}

/**
 * Tortures servers that have a bug each, and under the same plans one that has none.
 * @returns the exit code: 1 unless every bug was caught by an invariant that is meant for it, and nothing else was
 */
async function seededBugs(options: Options, out: string): Promise<number> {
  const mutants = MUTANTS.filter((m) => options.bugs?.includes(m.name) ?? true);
  let caught = 0;
  for (const mutant of mutants) {
    const { name, is, caughtBy, faults, withoutTrigger } = mutant;
    const found = await broken(options, join(out, name), {
      main: mutate(DIST, mutant),
      kinds: [...faults],
      ...(withoutTrigger !== undefined && { withoutTrigger }),
    });
    const isCaught = found.some((check) => caughtBy.includes(check));
    if (isCaught) caught += 1;
    say(`${isCaught ? 'caught    ' : 'NOT CAUGHT'} ${name}: ${is}; broke ${found.join(', ') || 'nothing'}`);
  }
  let alarms = 0;
  for (const [i, plan] of plansOf(mutants).entries()) {
    const found = await broken(options, join(out, `no-bug-${i}`), { kinds: [...plan] });
    if (found.length > 0) alarms += 1;
    say(
      `${found.length === 0 ? 'clean     ' : 'NOT CLEAN '} no bug, ${plan.join(', ')}; ${found.join(', ')}`,
    );
  }
  say(`${caught} of ${mutants.length} seeded bugs were caught, ${alarms} false alarms, seed ${options.seed}`);
  return caught === mutants.length && alarms === 0 ? 0 : 1;
}

/** Which invariants a run of some server breaks. */
async function broken(options: Options, out: string, but: Partial<RunOptions>): Promise<string[]> {
  const kinds = options.kinds ?? but.kinds;
  const report = await run({ ...options, ...but, kinds, quietMs: QUIET_OF_BUGS_MS }, out, () => undefined);
  await writeFile(join(out, 'report.md'), toMarkdown(report));
  return report.findings.filter((f) => f.violations.length > 0).map((f) => f.check);
}

async function main(): Promise<number> {
  const options = optionsOf(process.argv.slice(2));
  const out = options.out ?? (await mkdtemp(join(tmpdir(), 'reach-torture-')));
  return options.seededBugs ? seededBugs(options, out) : torture(options, out);
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 2;
});
// Nothing that runs now is worth waiting for, and whatever was started dies with this process.
process.exit();
