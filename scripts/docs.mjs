/**
 * The parts of the documentation that are made from the sources: docs/failure-codes.md as a whole, and blocks
 * between `<!-- begin: NAME -->` and `<!-- end -->`. A block is `settings` (the table of .env.example),
 * `settings:A,B` (some of its rows), `agent-states` (the diagram of the states of an agent), or the path of a file, which
 * is quoted.
 */
import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { AGENT_RULES, AGENT_STATES, AGENT_TRANSITIONS } from '../dist/core/agent-state.js';
import { ERROR_CATALOGUE } from '../dist/core/errors.js';
import { failureCodes } from './failure-codes.mjs';

const WITH_BLOCKS = ['README.md', 'ARCHITECTURE.md', 'docs/operations.md'];
const CODES = 'docs/failure-codes.md';
const BLOCK = /(<!-- begin: (\S+) -->\n)[\s\S]*?(<!-- end -->)/g;

/**
 * File name -> text.
 *
 * @param {string} envExample the text of .env.example
 * @throws Error for a block that cannot be filled
 */
export async function docs(envExample) {
  const texts = { [CODES]: failureCodes(ERROR_CATALOGUE) };
  for (const file of WITH_BLOCKS)
    texts[file] = readFileSync(file, 'utf8').replace(
      BLOCK,
      (_, begin, name, end) => `${begin}\n${blockOf(name, envExample)}\n\n${end}`,
    );
  const entries = Object.entries(texts).map(async ([file, text]) => [file, await pretty(file, text)]);
  return Object.fromEntries(await Promise.all(entries));
}

function blockOf(name, envExample) {
  const [kind, only] = name.split(':');
  if (kind === 'agent-states') return agentStates();
  if (kind === 'settings') return settingsTable(envExample, only?.split(','));
  const language = name.slice(name.lastIndexOf('.') + 1);
  return ['```' + language, readFileSync(name, 'utf8').trimEnd(), '```'].join('\n');
}

/** The diagram of the table of transitions, each edge with the rules that lead to its end; and the rules in order. */
function agentStates() {
  const because = (state) => AGENT_RULES.filter((r) => r.state === state).map((r) => r.label);
  const edges = AGENT_STATES.flatMap((from) => AGENT_TRANSITIONS[from].map((to) => `  ${from} --> ${to}`));
  const registered = ['offline', 'removing'].map((from) => `  ${from} --> online: register`);
  const rules = AGENT_RULES.map((r, i) => `| ${i + 1} | ${r.label} | \`${r.state}\` |`);
  const notes = AGENT_STATES.map((state) => `  note right of ${state}: ${because(state).join('<br>')}`);
  const diagram = [
    'stateDiagram-v2',
    '  [*] --> online: register',
    ...edges,
    ...registered,
    '  removing --> [*]: nothing held any more, or drain time over',
    ...notes,
  ];
  return [
    '```mermaid',
    ...diagram,
    '```',
    '',
    'The first rule that holds decides:',
    '',
    '| | what is known | state |',
    '| --- | --- | --- |',
    ...rules,
  ].join('\n');
}

/** .env.example is one comment and one `#NAME=value` a setting. */
function settingsTable(envExample, only) {
  const settings = [...envExample.matchAll(/^# (.+)\n#(\w+)=(.*)$/gm)];
  const names = settings.map(([, , name]) => name);
  const missing = (only ?? names.slice(0, 1)).filter((name) => !names.includes(name));
  if (names.length === 0 || missing.length > 0) throw new Error(`.env.example has no setting ${missing}`);
  const rows = settings
    .filter(([, , name]) => only?.includes(name) ?? true)
    .map(([, meaning, name, value]) => `| \`${name}\` | ${value && `\`${value}\``} | ${meaning} |`);
  return ['| variable | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

async function pretty(path, text) {
  return format(text, { ...(await resolveConfig(path)), parser: 'markdown' });
}
