import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MUTANTS, mutate } from './mutants.js';
import { type Options, optionsOf } from './options.js';
import { replayOf, toMarkdown } from './report.js';
import { run } from './run.js';

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
 * Tortures servers that have a bug each.
 * @returns the exit code: 1 unless every one was caught, by an invariant that is meant for it
 */
async function seededBugs(options: Options, out: string): Promise<number> {
  const mutants = MUTANTS.filter((m) => options.bugs?.includes(m.name) ?? true);
  const caught: string[] = [];
  for (const mutant of mutants) {
    const { name, is, caughtBy, faults, withoutTrigger } = mutant;
    const main = mutate(DIST, mutant);
    const report = await run(
      {
        ...options,
        main,
        quietMs: QUIET_OF_BUGS_MS,
        kinds: options.kinds ?? (faults === undefined ? undefined : [...faults]),
        ...(withoutTrigger !== undefined && { withoutTrigger }),
      },
      join(out, name),
      () => undefined,
    );
    await writeFile(join(out, name, 'report.md'), toMarkdown(report));
    const found = report.findings.filter((f) => f.violations.length > 0).map((f) => f.check);
    const by = found.filter((check) => caughtBy.includes(check));
    if (by.length > 0) caught.push(name);
    say(
      `${by.length > 0 ? 'caught    ' : 'NOT CAUGHT'} ${name}: ${is}; broke ${found.join(', ') || 'nothing'}`,
    );
  }
  say(`${caught.length} of ${mutants.length} seeded bugs were caught, seed ${options.seed}`);
  return caught.length === mutants.length ? 0 : 1;
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
