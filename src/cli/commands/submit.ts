import type { TaskDetail, TaskRequest } from '@agent-reach/sdk';
import type { Command } from 'commander';
import { contextOf, pointInTime, wholeNumber, type CommandContext } from '../context.js';
import { ProgressBar } from '../output/progress-bar.js';
import { brief } from '../output/text.js';
import { readRecords } from '../submit/read-records.js';
import { sendBatches, type Submitted } from '../submit/send-batches.js';
import { payloadOf, tasksOf, type TaskFlags } from '../submit/tasks-of.js';
import { waitForAll } from '../submit/wait-for-all.js';
import { CommandFailed, UsageError } from '../usage-error.js';

interface SubmitOptions extends TaskFlags {
  payload?: string;
  file?: string;
  wait: boolean;
  timeoutMs: number;
}

const WEEK_MS = 604_800_000;
const YEAR_MS = 31_536_000_000;

/** `submit`: one task from flags, or many from a file or standard input. */
export function addSubmitCommand(program: Command): void {
  program
    .command('submit')
    .argument('[capability]', 'what the task needs, as name or name@range')
    .description('enqueue a task from flags, or many from a JSON or JSONL file or standard input')
    .option('-p, --payload <json>', 'the payload; what is not JSON is taken as text')
    .option(
      '-f, --file <path>',
      'records from a file, "-" for standard input: payloads if a capability is given, else tasks',
    )
    .option('-a, --agent <id>', 'address it to this agent')
    .option('--name <name>', 'address it to an instance of this agent')
    .option('--priority <n>', '-100 to 100, higher goes first', wholeNumber(-100, 100))
    .option('--idempotent', 'running it twice is harmless')
    .option('--delay-ms <ms>', 'not before so long from now', wholeNumber(0, YEAR_MS))
    .option('--run-at <time>', 'not before this time', pointInTime)
    .option('--expires-in-ms <ms>', 'must have started by then', wholeNumber(1, YEAR_MS))
    .option('--ack-timeout-ms <ms>', 'how long an agent may take to acknowledge', wholeNumber(50, 300_000))
    .option('--execution-timeout-ms <ms>', 'how long an agent may work', wholeNumber(50, WEEK_MS))
    .option('--max-attempts <n>', 'how often it is tried', wholeNumber(1, 100))
    .option('--tag <tag...>', 'only agents with all these tags')
    .option('--exclude <agent-id...>', 'never these agents')
    .option('--parent <task-id>', 'the task that this one is a part of')
    .option('-k, --key <key>', 'idempotency key: the same key and task is enqueued once')
    .option('-w, --wait', 'wait for the end, print results, fail if one failed', false)
    .option('--timeout-ms <ms>', 'how long to wait', wholeNumber(1, WEEK_MS), 300_000)
    .action(submit);
}

async function submit(
  capability: string | undefined,
  options: SubmitOptions,
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  if (options.file !== undefined && options.payload !== undefined)
    throw new UsageError('either --payload or --file, not both');
  if (options.file === undefined) return submitOne(context, capability, options);
  if (options.key !== undefined)
    throw new UsageError('--key names one task; with --file put idempotency_key into the records');
  return submitMany(context, capability, options, options.file);
}

async function submitOne(
  context: CommandContext,
  capability: string | undefined,
  options: SubmitOptions,
): Promise<void> {
  const { client, out } = context;
  const task = tasksOf(capability, options).one(payloadOf(options.payload));
  const accepted = await client.enqueue(task);
  if (!options.wait) {
    if (out.json) return out.document(accepted);
    out.line(accepted.task_id);
    if (accepted.deduplicated) out.note('(the idempotency key named this task already)');
    return;
  }
  out.note(`${accepted.task_id} ${accepted.state}`);
  const ended = await client.wait(accepted.task_id, { timeoutMs: options.timeoutMs });
  if (out.json) out.document(ended);
  else if (ended.state === 'succeeded') out.document(ended.result);
  if (ended.state !== 'succeeded') throw new CommandFailed(failureText(ended));
}

async function submitMany(
  context: CommandContext,
  capability: string | undefined,
  options: SubmitOptions,
  file: string,
): Promise<void> {
  const { client, out } = context;
  const toTask = tasksOf(capability, options);
  const bar = new ProgressBar('submitted', out.interactive);
  const submitted = await sendBatches(client, taskStream(readRecords(file), toTask), bar).finally(() =>
    bar.stop(),
  );
  for (const { record, problem } of submitted.rejected.slice(0, 20))
    out.note(`record ${record}: ${problem.detail} (${problem.code})`);
  const endings = options.wait ? await endingsOf(context, submitted, options.timeoutMs) : undefined;
  report(context, submitted, endings);
}

async function endingsOf(
  context: CommandContext,
  submitted: Submitted,
  timeoutMs: number,
): Promise<TaskDetail[]> {
  const bar = new ProgressBar('ended', context.out.interactive);
  const ids = submitted.accepted.map((a) => a.task_id);
  return waitForAll(context.client, ids, timeoutMs, bar).finally(() => bar.stop());
}

async function* taskStream(
  records: AsyncIterable<unknown>,
  toTask: { of: (record: unknown, at: number) => TaskRequest },
): AsyncGenerator<TaskRequest> {
  let at = 0;
  for await (const record of records) yield toTask.of(record, ++at);
}

function report({ out }: CommandContext, submitted: Submitted, endings: TaskDetail[] | undefined): void {
  const failed = endings?.filter((t) => t.state !== 'succeeded') ?? [];
  if (out.json) out.document({ ...submitted, ...(endings && { tasks: endings }) });
  else {
    out.line(`${submitted.accepted.length} accepted, ${submitted.rejected.length} rejected`);
    if (endings) out.line(`${endings.length - failed.length} succeeded, ${failed.length} did not`);
    for (const task of failed.slice(0, 20)) out.line(`  ${failureText(task)}`);
  }
  if (failed.length > 0 || submitted.rejected.length > 0) throw new CommandFailed();
}

function failureText(task: TaskDetail): string {
  const why = task.error ? `: ${task.error.code}: ${brief(task.error.message, 300)}` : '';
  return `task ${task.task_id} ${task.state}${why}; see: reach why ${task.task_id}`;
}
