/**
 * Writes the files that are made from the sources: openapi.json, .env.example, the types of the SDK, and the
 * generated parts of the documentation (docs.mjs).
 * With --check nothing is written and a file that is out of date fails. Run `npm run build:server` first.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { docs } from './docs.mjs';

const SDK_TYPES = 'sdk/typescript/src/generated/api.ts';

const { generatedFiles } = await import('../dist/generated-files.js');
const files = await generatedFiles();
if (existsSync(dirname(SDK_TYPES))) files[SDK_TYPES] = await sdkTypes(files['openapi.json']);
Object.assign(files, await docs(files['.env.example']));

const stale = [];
for (const [name, text] of Object.entries(files)) {
  const present = existsSync(name) ? readFileSync(name, 'utf8') : undefined;
  if (present === text) continue;
  stale.push(name);
  if (!process.argv.includes('--check')) write(name, text);
}
if (stale.length === 0) console.log('generated files are up to date');
else if (process.argv.includes('--check')) {
  console.error(`out of date: ${stale.join(', ')}; run npm run generate and commit`);
  process.exitCode = 1;
} else console.log(`wrote ${stale.join(', ')}`);

function write(name, text) {
  mkdirSync(dirname(name), { recursive: true });
  writeFileSync(name, text);
}

async function sdkTypes(document) {
  const source = astToString(await openapiTS(JSON.parse(document), { defaultNonNullable: false }));
  const header = '/* Generated from openapi.json by `npm run generate`; do not edit. */\n\n';
  return format(header + source, { ...(await resolveConfig(SDK_TYPES)), parser: 'typescript' });
}
