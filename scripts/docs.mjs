/**
 * The parts of the documentation that are made from the sources: docs/failure-codes.md as a whole, and the
 * blocks of README.md between `<!-- begin: NAME -->` and `<!-- end -->`. A block is either `settings` (the table
 * of .env.example) or the path of a file, which is quoted.
 */
import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { ERROR_CATALOGUE } from '../dist/core/errors.js';
import { failureCodes } from './failure-codes.mjs';

const README = 'README.md';
const CODES = 'docs/failure-codes.md';
const BLOCK = /(<!-- begin: (\S+) -->\n)[\s\S]*?(<!-- end -->)/g;

/**
 * File name -> text.
 *
 * @param {string} envExample the text of .env.example
 * @throws Error for a block that cannot be filled
 */
export async function docs(envExample) {
  const readme = readFileSync(README, 'utf8').replace(
    BLOCK,
    (_, begin, name, end) => `${begin}\n${blockOf(name, envExample)}\n\n${end}`,
  );
  return {
    [README]: await pretty(README, readme),
    [CODES]: await pretty(CODES, failureCodes(ERROR_CATALOGUE)),
  };
}

function blockOf(name, envExample) {
  if (name === 'settings') return settingsTable(envExample);
  const language = name.slice(name.lastIndexOf('.') + 1);
  return ['```' + language, readFileSync(name, 'utf8').trimEnd(), '```'].join('\n');
}

/** .env.example is one comment and one `#NAME=value` a setting, under `## group` headings. */
function settingsTable(envExample) {
  const rows = [];
  for (const [, meaning, name, value] of envExample.matchAll(/^# (.+)\n#(\w+)=(.*)$/gm))
    rows.push(`| \`${name}\` | ${value === '' ? '' : `\`${value}\``} | ${meaning} |`);
  if (rows.length === 0) throw new Error('.env.example has no settings that scripts/docs.mjs can read');
  return ['| variable | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

async function pretty(path, text) {
  return format(text, { ...(await resolveConfig(path)), parser: 'markdown' });
}
