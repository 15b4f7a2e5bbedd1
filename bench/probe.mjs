/** How soon the prober notices, how often it is wrong, and what it costs. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reported } from './args.mjs';
import { cost } from './probe/cost.mjs';
import { detection } from './probe/detection.mjs';
import { healthy } from './probe/healthy.mjs';
import { describeMachine } from './system/machine.mjs';
import { startDispatcher } from './system/servers.mjs';

/** Prints each figure as it is found, and writes them all to PROBE.md and probe.json. */
export async function probe(options) {
  const wanted = (part) => options.only.length === 0 || options.only.includes(part);
  const parts = {};
  const note = (part, name, value) => {
    (parts[part] ??= {})[name] = value;
    process.stdout.write(`${part}, ${name}: ${JSON.stringify(value)}\n`);
  };
  const bystander = await startDispatcher(options.dist, {});
  const machine = await describeMachine(bystander.postgres.url);
  await bystander.end();
  if (wanted('detection')) await detection(options, (name, value) => note('detection', name, value));
  if (wanted('healthy'))
    for (const [name, value] of Object.entries(await healthy(options))) note('healthy', name, value);
  if (wanted('cost'))
    for (const agents of options.fleets) {
      const dispatcher = await startDispatcher(options.dist, {});
      const found = await cost(dispatcher, agents);
      for (const [name, value] of Object.entries(found)) note(`cost of ${agents} agents`, name, value);
      await dispatcher.end();
    }
  if (options.out === '-') return;
  await mkdir(options.out, { recursive: true });
  const file = join(options.out, 'probe.json');
  const all = { ...(await before(file)) };
  for (const [part, figures] of Object.entries(parts))
    all[part] = { machine, options: reported(options), figures };
  await writeFile(file, `${JSON.stringify(all, null, 2)}\n`);
  await writeFile(join(options.out, 'PROBE.md'), markdown(all));
}

/** What was measured before, by part: parts that are not measured again stay, with their own date and commit. */
async function before(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return {};
  }
}

function markdown(all) {
  const lines = ['# Benchmark: probe'];
  for (const [part, { machine, figures }] of Object.entries(all)) {
    const { at, commit, cores, cpu, memoryGib, node, postgres } = machine;
    const where =
      `${at}, commit ${commit}: ${cores} cores (${cpu}), ${memoryGib} GiB, Node ${node}, embedded Postgres ` +
      `${postgres.server_version}; everything on this machine.`;
    lines.push('', `## ${part}`, '', where, '', '| | |', '|---|---|');
    for (const [name, value] of Object.entries(figures)) lines.push(`| ${name} | ${cell(value)} |`);
  }
  return `${lines.join('\n')}\n`;
}

function cell(value) {
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value).map(([name, of]) => `${name.replaceAll('|', '\\|')} ${of}`);
  return entries.length === 0 ? 'none' : entries.join(', ');
}
