import type { AttributionFilter, Blame } from '@agent-reach/sdk';
import { type Command, Option } from 'commander';
import { contextOf, pointInTime, take, taskId, wholeNumber } from '../context.js';
import { ago, blameOf, printable } from '../output/text.js';

const BLAMES = ['dependency', 'agent', 'network', 'caller', 'platform'];
const GROUPS = ['code', 'blame', 'agent_id', 'dependency', 'capability', 'stage'];

interface Options {
  task?: string;
  code?: string;
  blame?: Blame;
  agent?: string;
  dependency?: string;
  capability?: string;
  since?: string;
  until?: string;
  groupBy?: string;
  limit: number;
}

/** `attributions`: what failed and who is to blame, as a list or counted. */
export function addAttributionCommand(program: Command): void {
  program
    .command('attributions')
    .description('list failures with who is to blame, newest first; or count them with --group-by')
    .option('-t, --task <id>', 'only of this task', taskId)
    .option('--code <code>', 'only with this code')
    .addOption(new Option('-b, --blame <who>', 'only where this is to blame').choices(BLAMES))
    .option('-a, --agent <id>', 'only at this agent')
    .option('-d, --dependency <name>', 'only of this dependency')
    .option('-c, --capability <name>', 'only for this capability')
    .option('--since <time>', 'only since: a time, or an age such as 15m', pointInTime)
    .option('--until <time>', 'only until', pointInTime)
    .addOption(new Option('-g, --group-by <field>', 'count by').choices(GROUPS))
    .option('-l, --limit <n>', 'how many at most', wholeNumber(1, 100_000), 50)
    .action(showAttributions);
}

async function showAttributions(options: Options, command: Command): Promise<void> {
  const { client, out } = contextOf(command);
  const filter: AttributionFilter = {
    task_id: options.task,
    code: options.code,
    blame: options.blame,
    agent_id: options.agent,
    dependency: options.dependency,
    capability: options.capability,
    since: options.since,
    until: options.until,
  };
  if (options.groupBy !== undefined) {
    const summary = await client.attributionSummary(options.groupBy, filter);
    if (out.json) return out.document(summary);
    return out.table(
      [options.groupBy.toUpperCase(), 'ATTEMPTS', 'TASKS', 'LAST'],
      summary.groups.map((g) => [
        printable(g.key ?? '(none)'),
        String(g.attempts),
        String(g.tasks),
        ago(g.last_at),
      ]),
      'no failures',
    );
  }
  const attributions = await take(out, client.attributions(filter), options.limit);
  if (out.json) return out.document(attributions);
  if (attributions.length === 0) return out.line('no failures');
  for (const a of attributions) {
    const attempt = a.attempt > 0 ? `try ${a.attempt}` : 'before any try';
    out.line(`${a.task_id}  ${out.paint(a.final ? 'red' : 'yellow', a.code)}  ${blameOf(a)}`);
    out.line(`  ${out.paint('dim', `${ago(a.at)}, ${attempt}:`)} ${printable(a.message)}`);
  }
}
