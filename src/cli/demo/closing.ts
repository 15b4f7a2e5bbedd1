import type { Attribution, TaskDetail } from '@agent-reach/sdk';
import { duration, printable } from '../output/text.js';
import type { Output } from '../output/output.js';
import type { Pipeline } from './pipeline.js';
import type { Evidence } from './verdict.js';

const MOST_LINES = 12;

/** Prints what became of the tasks. */
export function printClosing(out: Output, evidence: Evidence, pipeline: Pipeline, elapsedMs: number): void {
  const { tasks, attributions, report } = evidence;
  heading(out, `All ${tasks.length} tasks have ended, after ${duration(elapsedMs)}`);
  out.table(['CAPABILITY', 'TASKS', 'TRIES', 'MEDIAN', 'SLOWEST'], timings(tasks), 'no tasks');

  heading(out, 'Tried more than once');
  const again = tasks.filter((task) => task.deliveries.length > 1);
  for (const task of again.slice(0, MOST_LINES)) out.line(`  ${printable(journey(task, pipeline))}`);
  more(out, again.length);

  heading(out, 'What went wrong, and who is to blame');
  const sentences = bySentence(attributions);
  for (const [sentence, count] of sentences.slice(0, MOST_LINES))
    out.line(`  ${count > 1 ? `${count} x ` : ''}${printable(sentence)}`);
  more(out, sentences.length);

  if (report === undefined) return;
  heading(out, 'The report begins');
  for (const line of report.split('\n').slice(0, 3)) out.line(`  ${printable(line)}`);
}

/** Commands that look further; they need the demo to be left running. */
export function printCommands(out: Output, url: string, orphan: string, kept: boolean): void {
  heading(
    out,
    kept ? 'It all still runs. Look further' : 'To look further, run "reach demo --keep" and then',
  );
  const reach = kept ? `reach --url ${url}` : 'reach --url <the centre’s address>';
  for (const command of [
    'agents',
    `why ${kept ? orphan : '<task>'}`,
    'tasks --limit 10',
    'attributions --group-by blame',
  ])
    out.line(`  ${reach} ${command}`);
}

function heading(out: Output, text: string): void {
  out.line();
  out.line(out.paint('bold', text));
}

function more(out: Output, count: number): void {
  if (count > MOST_LINES) out.line(`  and ${count - MOST_LINES} more`);
}

function timings(tasks: readonly TaskDetail[]): string[][] {
  const groups = new Map<string, TaskDetail[]>();
  for (const task of tasks) groups.set(task.capability, [...(groups.get(task.capability) ?? []), task]);
  return [...groups].map(([capability, group]) => {
    const tookMs = group
      .map((t) => Date.parse(t.finished_at ?? t.created_at) - Date.parse(t.created_at))
      .sort((a, b) => a - b);
    const tries = group.reduce((sum, t) => sum + t.deliveries.length, 0);
    return [
      capability,
      String(group.length),
      String(tries),
      duration(tookMs[Math.floor(tookMs.length / 2)] ?? 0),
      duration(tookMs.at(-1) ?? 0),
    ];
  });
}

function journey(task: TaskDetail, pipeline: Pipeline): string {
  const known = pipeline.submitted.get(task.task_id);
  const stops = task.deliveries.map((d) => `${d.agent_id} ${d.code ?? d.state}`);
  return `${task.capability} ${known ? `"${known.document}"` : task.task_id}: ${stops.join(' -> ')}`;
}

/** Sentences that differ only in numbers count as one. */
function bySentence(attributions: readonly Attribution[]): [string, number][] {
  const counts = new Map<string, { text: string; count: number }>();
  for (const { message } of attributions) {
    const key = message.replace(/\d+(\.\d+)?/g, '#').replace(/documents\/\S+/g, 'documents/#');
    const known = counts.get(key) ?? { text: message, count: 0 };
    counts.set(key, { text: known.text, count: known.count + 1 });
  }
  return [...counts.values()].sort((a, b) => b.count - a.count).map(({ text, count }) => [text, count]);
}
