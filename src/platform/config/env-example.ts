import { FIELD_META, FIELD_NAMES } from './config.js';
import { fields } from './fields.js';

/** The text of `.env.example`: every setting with its meaning and its default, commented out. */
export function envExample(): string {
  const lines = [
    '# Every setting with its default. Generated from src/platform/config/fields.ts; do not edit.',
  ];
  let group = '';
  for (const name of FIELD_NAMES) {
    const meta = FIELD_META[name];
    if (meta.group !== group) lines.push('', `## ${(group = meta.group)}`);
    const preset = fields[name].safeParse(undefined).data;
    lines.push(`# ${meta.description}`, `#${meta.env}=${preset === undefined ? '' : preset.toString()}`);
  }
  return lines.join('\n') + '\n';
}
