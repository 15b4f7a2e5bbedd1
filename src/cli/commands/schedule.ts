import { readFile } from 'node:fs/promises';
import type { Schedule, ScheduleDetail, ScheduleRequest } from '@agent-reach/sdk';
import type { Command } from 'commander';
import { contextOf } from '../context.js';
import type { Output } from '../output/output.js';
import { printable } from '../output/text.js';
import { UsageError } from '../usage-error.js';

interface SetOptions {
  timezone?: string;
  overlap?: ScheduleRequest['overlap'];
  catchUp?: ScheduleRequest['catch_up'];
}

/** `schedule list`, `get`, `set`, `remove`, `pause`, `resume` and `trigger`. */
export function addScheduleCommands(program: Command): void {
  const schedule = program
    .command('schedule')
    .description('tasks that come again and again, by cron expression');
  addReadCommands(schedule);
  schedule
    .command('set')
    .argument('<id>')
    .argument('<cron>', 'five fields, or six with seconds first: "30 2 * * MON-FRI"')
    .argument('<task>', 'JSON, or @FILE with JSON: {"capability":"report.daily","payload":{}}')
    .option('-t, --timezone <name>', 'IANA time zone (default: UTC)')
    .option('--overlap <policy>', 'while the task before runs: allow, skip, queue (default: allow)')
    .option('--catch-up <policy>', 'of times that passed unnoticed: none, last, all (default: last)')
    .description('create or replace a schedule')
    .action(async (id: string, cron: string, task: string, options: SetOptions, command: Command) => {
      const { client, out } = contextOf(command);
      const { timezone, overlap, catchUp } = options;
      const written = await client.schedules.set(id, {
        cron,
        task: await taskOf(task),
        ...(timezone !== undefined && { timezone }),
        ...(overlap !== undefined && { overlap }),
        ...(catchUp !== undefined && { catch_up: catchUp }),
      });
      print(out, written);
    });
  schedule
    .command('remove')
    .argument('<id>')
    .description('remove a schedule; tasks that it made go on')
    .action(async (id: string, _options: object, command: Command) => {
      const { client, out } = contextOf(command);
      const removed = await client.schedules.remove(id);
      if (out.json) return out.document(removed);
      out.line(printable(`schedule ${id} is removed`));
    });
  addSwitchCommands(schedule);
}

function addReadCommands(schedule: Command): void {
  schedule
    .command('list')
    .description('list the schedules of the namespace')
    .action(async (_options: object, command: Command) => {
      const { client, out } = contextOf(command);
      const schedules: Schedule[] = [];
      for await (const one of client.schedules.list()) schedules.push(one);
      if (out.json) return out.document(schedules);
      out.table(
        ['SCHEDULE', 'CRON', 'TIME ZONE', 'NEXT', 'STATE'],
        schedules.map((s) => [
          printable(s.schedule_id),
          printable(s.cron),
          printable(s.timezone),
          s.paused ? '' : (s.next_at ?? 'none any more'),
          printable(stateOf(s)),
        ]),
        'no schedules; "reach schedule set ID CRON TASK" makes one',
      );
    });
  schedule
    .command('get')
    .argument('<id>')
    .description('show a schedule, its next fire times and what came of the last ones')
    .action(async (id: string, _options: object, command: Command) => {
      const { client, out } = contextOf(command);
      print(out, await client.schedules.get(id));
    });
}

function addSwitchCommands(schedule: Command): void {
  schedule
    .command('pause')
    .argument('<id>')
    .option('-r, --reason <text>', 'why, for those who ask', '')
    .description('fire no more until it is resumed')
    .action(async (id: string, options: { reason: string }, command: Command) => {
      const { client, out } = contextOf(command);
      printState(out, await client.schedules.pause(id, options.reason));
    });
  schedule
    .command('resume')
    .argument('<id>')
    .description('go on with the next fire time')
    .action(async (id: string, _options: object, command: Command) => {
      const { client, out } = contextOf(command);
      printState(out, await client.schedules.resume(id));
    });
  schedule
    .command('trigger')
    .argument('<id>')
    .description('fire now, beside its times')
    .action(async (id: string, _options: object, command: Command) => {
      const { client, out } = contextOf(command);
      const fired = await client.schedules.trigger(id);
      if (out.json) return out.document(fired);
      out.line(fired.task_id);
    });
}

function print(out: Output, schedule: ScheduleDetail): void {
  if (out.json) return out.document(schedule);
  out.line(
    printable(`${schedule.schedule_id}: ${schedule.cron} in ${schedule.timezone}, ${stateOf(schedule)}`),
  );
  for (const at of schedule.next) out.line(`  next    ${at}`);
  for (const f of schedule.firings)
    out.line(printable(`  ${f.outcome.padEnd(9)} ${f.fire_at} ${f.task_id ?? f.detail ?? ''}`));
}

function printState(out: Output, schedule: Schedule): void {
  if (out.json) return out.document(schedule);
  out.line(printable(`schedule ${schedule.schedule_id} is ${stateOf(schedule)}`));
}

function stateOf(s: Schedule): string {
  if (s.paused) return s.pause_reason ? `paused: ${s.pause_reason}` : 'paused';
  if (s.problem !== undefined) return `held up: ${s.problem}`;
  return s.waiting_at === undefined ? 'on' : 'on, one waits for the task before';
}

/** What it means is for the centre to judge. @throws UsageError */
async function taskOf(text: string): Promise<ScheduleRequest['task']> {
  try {
    const json = text.startsWith('@') ? await readFile(text.slice(1), 'utf8') : text;
    return JSON.parse(json) as ScheduleRequest['task'];
  } catch (error) {
    throw new UsageError(`the task cannot be read: ${(error as Error).message}`);
  }
}
