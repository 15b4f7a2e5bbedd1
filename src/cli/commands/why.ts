import type { Attribution, Decision, StoryEntry } from '@agent-reach/sdk';
import type { Command } from 'commander';
import { contextOf, taskId } from '../context.js';
import type { Output } from '../output/output.js';
import { blameOf, duration, merits, printable } from '../output/text.js';

const KIND_WIDTH = 13;
/** Time and the time since. */
const WHEN_WIDTH = 24;

/** `why`: the story of a task as a timeline, and who is to blame. */
export function addWhyCommand(program: Command): void {
  program
    .command('why')
    .argument('<task-id>', undefined, taskId)
    .description('tell the story of a task: each decision, delivery and failure, and who is to blame')
    .action(async (taskId: string, _options: object, command: Command) => {
      const { client, out } = contextOf(command);
      const explanation = await client.explain(taskId);
      if (out.json) return out.document(explanation);
      out.line(`Task ${explanation.task_id} ${out.state(explanation.state)}`);
      out.line(`  ${out.paint('bold', printable(explanation.headline))}`);
      out.line();
      let before: string | undefined;
      for (const entry of explanation.story) {
        out.line(storyLine(out, entry, before));
        for (const line of choiceLines(entry))
          out.line(out.paint('dim', `  ${' '.repeat(WHEN_WIDTH + KIND_WIDTH)} ${line}`));
        before = entry.at;
      }
      if (explanation.attributions.length > 0) {
        out.line();
        out.line('Who is to blame');
      }
      for (const attribution of explanation.attributions) printBlame(out, attribution);
    });
}

/** One entry of a story; with `before`, the time since the entry before. */
export function storyLine(out: Output, entry: StoryEntry, before?: string): string {
  const sinceMs = before === undefined ? 0 : Date.parse(entry.at) - Date.parse(before);
  const since = sinceMs >= 1 ? `+${duration(sinceMs)}` : '';
  const kind = printable(entry.kind).padEnd(KIND_WIDTH);
  const bad = entry.kind === 'attribution';
  const time = out.paint('dim', entry.at.slice(11, 23));
  return `  ${time} ${since.padStart(9)}  ${out.paint(bad ? 'yellow' : 'cyan', kind)} ${printable(entry.text)}`;
}

/** Who was compared for an offer, and who was passed over. */
function choiceLines(entry: StoryEntry): string[] {
  const { decision } = (entry.data ?? {}) as { decision?: Decision };
  if (decision === undefined) return [];
  const { compared, rejected } = decision;
  const named = rejected.named.map((r) => printable(`not ${r.agent_id}: ${r.reason}`));
  const all = Object.values(rejected.counts).reduce((sum, count) => sum + count, 0);
  return [
    ...(compared.length > 1
      ? compared.map((c) =>
          printable(`${c.chosen ? 'took' : 'left'} ${c.agent_id}:${scoreOf(c)} ${merits(c)}`),
        )
      : []),
    ...named,
    ...(all > named.length ? [`nor ${all - named.length} more`] : []),
  ];
}

function scoreOf({ score }: Decision['compared'][number]): string {
  return score === undefined ? '' : ` score ${score.toFixed(3)},`;
}

function printBlame(out: Output, attribution: Attribution): void {
  const { attempt, code, final } = attribution;
  const attemptText = attempt > 0 ? `attempt ${attempt}` : 'before any attempt';
  out.line(
    `  ${out.paint(final ? 'red' : 'yellow', `REACH_${code}`.replace('REACH_REACH_', 'REACH_'))} ` +
      `${attemptText}: ${blameOf(attribution)}`,
  );
  out.line(`    ${printable(attribution.message)}`);
}
