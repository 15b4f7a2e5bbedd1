import type { SimulateAnswer, SimulateRequest } from '@agent-reach/sdk';
import type { Command } from 'commander';
import { contextOf, wholeNumber } from '../context.js';
import type { Output } from '../output/output.js';
import { merits, printable } from '../output/text.js';

interface Options {
  agent?: string;
  name?: string;
  version?: string;
  tag?: string[];
  zone?: string;
  exclude?: string[];
  tried?: string[];
  affinity?: string;
  limit: number;
}

const several = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

/** `simulate`: the decision without the task. */
export function addSimulateCommand(program: Command): void {
  program
    .command('simulate')
    .argument('[capability...]', 'what the task needs, as in "document.summarize@^2.1"')
    .option('--agent <id>', 'addressed to this agent')
    .option('--name <name>', 'addressed to an instance of this name')
    .option('--version <range>', 'semver range of the capability')
    .option('--tag <tag>', 'a tag the agent has to have (may be repeated)', several)
    .option('--zone <zone>', 'the zone the agent has to be in')
    .option('--exclude <id>', 'never to this agent (may be repeated)', several)
    .option('--tried <id>', 'this agent has failed at it (may be repeated, the last one last)', several)
    .option('-l, --limit <n>', 'how many candidates to show at most', wholeNumber(1, 1000), 100)
    .option('--affinity <key>', 'the affinity key of the task')
    .description('show who would get a task now, and why nobody else would')
    .action(async (capabilities: string[], options: Options, command: Command) => {
      const { client, out } = contextOf(command);
      const answer = await client.simulate(requestOf(capabilities, options));
      if (out.json) return out.document(answer);
      print(out, answer);
    });
}

function requestOf(capabilities: string[], o: Options): SimulateRequest {
  const constraints = {
    ...(o.version !== undefined && { version: o.version }),
    ...(o.tag !== undefined && { tags: o.tag }),
    ...(o.zone !== undefined && { zone: o.zone }),
    ...(o.exclude !== undefined && { exclude: o.exclude }),
  };
  return {
    limit: o.limit,
    ...(capabilities.length > 0 && { capabilities }),
    ...(o.agent !== undefined && { agent_id: o.agent }),
    ...(o.name !== undefined && { name: o.name }),
    ...(Object.keys(constraints).length > 0 && { constraints }),
    ...(o.tried !== undefined && { tried: o.tried }),
    ...(o.affinity !== undefined && { affinity_key: o.affinity }),
  };
}

const COLORS = { chosen: 'green', eligible: 'green', tried: 'yellow', rejected: 'red' } as const;

function print(out: Output, answer: SimulateAnswer): void {
  out.table(
    ['AGENT', 'VERDICT', 'SHARE', 'SCORE', 'WHY'],
    answer.candidates.map((c) => [
      printable(c.agent_id),
      out.paint(COLORS[c.verdict], c.verdict),
      c.share === undefined ? '' : `${(c.share * 100).toFixed(1)} %`,
      c.score?.toFixed(3) ?? '',
      printable(c.verdict === 'rejected' || c.verdict === 'tried' ? refusal(c) : merits(c)),
    ]),
    'no agent offers that',
  );
  if (answer.total > answer.candidates.length)
    out.line(`${answer.total - answer.candidates.length} more are not shown; --limit takes up to 1000`);
  out.line(printable(headline(answer)));
  if (answer.panic === true && answer.candidates.some((c) => c.share !== undefined))
    out.line('nobody is in good standing: all of these failed of late, and are used all the same (panic)');
}

type Candidate = SimulateAnswer['candidates'][number];

function refusal({ filter, reason }: Candidate): string {
  return filter === undefined ? (reason ?? '') : `${filter}: ${reason ?? ''}`;
}

function headline({ chosen, paused, by, strategy }: SimulateAnswer): string {
  if (paused !== undefined) return `a task would wait: ${paused} is paused`;
  if (chosen === undefined) return 'a task would wait: nobody can take it now';
  return `a task would most likely go to ${chosen}, ${by === 'affinity' ? 'by its affinity key' : `by ${strategy}`}`;
}
