import { Client } from '@agent-reach/sdk';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { Output } from './output/output.js';
import { printable } from './output/text.js';
import { UsageError } from './usage-error.js';

interface GlobalOptions {
  url: string;
  token?: string;
  namespace: string;
  json: boolean;
}

/** What every command that talks to a centre works with. */
export interface CommandContext {
  client: Client;
  out: Output;
  namespace: string;
  url: string;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';

/** The options that hold for all commands; they may stand before or after the command's name. */
export function addGlobalOptions(program: Command): void {
  program
    .addOption(new Option('-u, --url <url>', 'where the centre is').env('REACH_URL').default(DEFAULT_URL))
    .addOption(new Option('--token <token>', 'bearer token').env('REACH_TOKEN'))
    .addOption(new Option('-n, --namespace <name>', 'namespace').env('REACH_NAMESPACE').default('default'))
    .option('--json', 'print JSON', false);
}

/** The option `--watch`, in seconds. */
export function watchOption(): Option {
  return new Option('-w, --watch [seconds]', 'show it again and again')
    .preset('2')
    .argParser(wholeNumber(1, 3600));
}

/** @throws TypeError for a URL that is none */
export function contextOf(command: Command): CommandContext {
  const options = command.optsWithGlobals<GlobalOptions>();
  const { url, token, namespace } = options;
  return {
    client: new Client({ url, token, namespace, retries: 2 }),
    out: new Output(options.json),
    namespace,
    url,
  };
}

/** Reads a whole number in an option. */
export function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^-?\d+$/.test(value) || number < min || number > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    return number;
  };
}

const TASK_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Reads the id of a task. @throws UsageError */
export function taskId(value: string): string {
  if (!TASK_ID.test(value))
    throw new UsageError(
      `"${printable(value)}" is not a task id; "reach tasks" lists them, and "reach agents <id>" tells of an agent`,
    );
  return value;
}

/** Reads one more id of several. */
export function taskIds(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), taskId(value)];
}

/** Reads a point in time: RFC 3339, or an age such as 90s, 15m, 2h, 1d. Gives RFC 3339. */
export function pointInTime(value: string): string {
  const age = /^(\d+)(s|m|h|d)$/.exec(value);
  const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  const ms = age ? Date.now() - Number(age[1]) * unitMs[age[2] as keyof typeof unitMs] : Date.parse(value);
  if (Number.isNaN(ms)) throw new InvalidArgumentError('It must be a time (RFC 3339) or an age such as 15m.');
  return new Date(ms).toISOString();
}

/** The first `limit` items; where there are more, that is said on standard error. */
export async function take<T>(out: Output, items: AsyncIterable<T>, limit: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) {
    if (taken.length >= limit) {
      out.note(`(the first ${limit}; more with --limit)`);
      break;
    }
    taken.push(item);
  }
  return taken;
}
