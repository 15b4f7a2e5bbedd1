import type { Task, TaskDetail, TaskState } from '@agent-reach/sdk';
import { type Command, Option } from 'commander';
import {
  contextOf,
  taskId,
  taskIds,
  pointInTime,
  take,
  watchOption,
  wholeNumber,
  type CommandContext,
} from '../context.js';
import { brief, ago, duration, printable } from '../output/text.js';
import { watch } from '../output/watch.js';
import { CommandFailed, UsageError } from '../usage-error.js';
import { storyLine } from './why.js';

const STATES = ['scheduled', 'queued', 'offered', 'running', 'succeeded', 'failed', 'canceled', 'expired'];

interface ListOptions {
  state?: TaskState;
  capability?: string;
  agent?: string;
  code?: string;
  since?: string;
  until?: string;
  limit: number;
  watch?: number;
}

/** `tasks`, `task`, `cancel` and `retry`. */
export function addTaskCommands(program: Command): void {
  filtered(program.command('tasks').description('list tasks, newest first'))
    .option('-l, --limit <n>', 'how many at most', wholeNumber(1, 100_000), 50)
    .addOption(watchOption())
    .action(listTasks);
  program
    .command('task')
    .argument('<task-id>', undefined, taskId)
    .description('show one task with its deliveries and result')
    .option('-f, --follow', 'print what happens to it until it ends', false)
    .action(showTask);
  program
    .command('cancel')
    .argument('<task-id...>', undefined, taskIds)
    .description('cancel tasks; a running agent is told to stop')
    .action(cancelTasks);
  filtered(
    program
      .command('retry')
      .description('make new tasks from ended ones: by id, or all that fit the filters'),
  )
    .argument('[task-id...]', undefined, taskIds)
    .option('-l, --limit <n>', 'with filters: how many at most', wholeNumber(1, 1000), 100)
    .option('--dry-run', 'with filters: only count', false)
    .action(retryTasks);
}

function filtered(command: Command): Command {
  return command
    .addOption(new Option('-s, --state <state>', 'only in this state').choices(STATES))
    .option('-c, --capability <name>', 'only for this capability')
    .option('-a, --agent <id>', 'only at this agent')
    .option('--code <code>', 'only with this error code')
    .option('--since <time>', 'only created since: a time, or an age such as 15m', pointInTime)
    .option('--until <time>', 'only created until', pointInTime);
}

function listTasks(options: ListOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  return watch(context.out, options.watch, () => printTasks(context, options));
}

async function printTasks({ client, out }: CommandContext, options: ListOptions): Promise<void> {
  const { state, capability, agent, code, since, until } = options;
  const tasks = await take(
    out,
    client.list({ state, capability, agent_id: agent, code, since, until }),
    options.limit,
  );
  if (out.json) return out.document(tasks);
  out.table(
    ['TASK', 'STATE', 'CAPABILITY', 'AGENT', 'TRY', 'CREATED', 'TOOK', 'ERROR'],
    tasks.map((task) => [
      task.task_id,
      out.state(task.state),
      printable(task.capability),
      printable(task.agent_id ?? ''),
      `${task.attempt}/${task.max_attempts}`,
      ago(task.created_at),
      took(task),
      task.error ? brief(task.error.message || task.error.code, 100) : '',
    ]),
    'no tasks',
  );
}

async function showTask(taskId: string, options: { follow: boolean }, command: Command): Promise<void> {
  const context = contextOf(command);
  const { client, out } = context;
  if (options.follow) {
    for await (const entry of client.events(taskId)) {
      if (out.json) out.document(entry, true);
      else out.line(storyLine(out, entry));
    }
    if (out.json) return;
    out.line();
  }
  const task = await client.get(taskId);
  if (out.json) return out.document(task);
  printTask(context, task);
}

function printTask({ out }: CommandContext, task: TaskDetail): void {
  out.facts({
    task: task.task_id,
    state: out.state(task.state),
    capability: printable(task.capability),
    agent: task.agent_id === undefined ? undefined : printable(task.agent_id),
    attempt: `${task.attempt} of ${task.max_attempts}${task.idempotent ? ', idempotent' : ''}`,
    created: `${task.created_at} (${ago(task.created_at)})`,
    'runs at': task.state === 'scheduled' ? `${task.run_at} (${ago(task.run_at)})` : undefined,
    took: took(task) || undefined,
    parent: task.parent_task_id,
    'retry of': task.retry_of,
    progress: task.progress == null ? undefined : brief(task.progress, 500),
    payload: brief(task.payload, 500),
    result: task.state === 'succeeded' ? brief(task.result, 2000) : undefined,
    meta: task.meta == null ? undefined : brief(task.meta, 500),
    error: task.error ? `${task.error.code}: ${printable(task.error.message)}` : undefined,
  });
  if (task.deliveries.length > 0) out.line();
  if (task.deliveries.length > 0)
    out.table(
      ['TRY', 'AGENT', 'STATE', 'OFFERED', 'ACK AFTER', 'RAN', 'CODE'],
      task.deliveries.map((d) => [
        String(d.attempt),
        printable(d.agent_id),
        out.state(d.state),
        d.offered_at,
        between(d.offered_at, d.acked_at),
        between(d.acked_at, d.finished_at),
        d.code ?? '',
      ]),
      '',
    );
  if (task.error) out.note(`(the whole story: reach why ${task.task_id})`);
}

async function cancelTasks(taskIds: string[], _options: object, command: Command): Promise<void> {
  const { client, out } = contextOf(command);
  const answers = [];
  for (const taskId of taskIds) answers.push(await client.cancel(taskId));
  if (out.json) return out.document(answers);
  for (const a of answers)
    out.line(a.canceled ? `${a.task_id} canceled` : `${a.task_id} had ended before: ${out.state(a.state)}`);
}

async function retryTasks(
  taskIds: string[],
  options: ListOptions & { dryRun: boolean },
  command: Command,
): Promise<void> {
  const { client, out } = contextOf(command);
  const { state, capability, agent, code, since, until, limit, dryRun } = options;
  const filters = { state, capability, code, since, until };
  const hasFilters = Object.values(filters).some((v) => v !== undefined);
  if (agent !== undefined) throw new UsageError('retry cannot be narrowed to an agent');
  if (taskIds.length > 0 === hasFilters)
    throw new UsageError(
      'say which tasks: either ids, or filters such as --state failed --code DEPENDENCY_DOWN',
    );
  if (hasFilters) {
    const present = Object.fromEntries(Object.entries(filters).filter(([, v]) => v !== undefined));
    const answer = await client.retryMany({ ...present, limit, dry_run: dryRun });
    if (out.json) return out.document(answer);
    if (dryRun) return out.line(`${answer.matched} tasks fit; none was retried`);
    for (const r of answer.retried) out.line(`${r.retry_of} -> ${r.task_id}`);
    return out.line(`${answer.retried.length} of ${answer.matched} retried`);
  }
  const answers = [];
  for (const taskId of taskIds) answers.push(await client.retry(taskId));
  if (answers.length === 0) throw new CommandFailed('nothing was retried');
  if (out.json) return out.document(answers);
  for (const r of answers) out.line(`${r.retry_of} -> ${r.task_id}`);
}

const took = (task: Task): string => between(task.created_at, task.finished_at);

function between(from: string | undefined, to: string | undefined): string {
  return from === undefined || to === undefined ? '' : duration(Date.parse(to) - Date.parse(from));
}
