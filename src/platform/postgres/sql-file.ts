import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const cache = new Map<string, string>();

/**
 * The text of a `.sql` file beside a module: `loadSql(import.meta.url, 'sql/insert-tasks.sql')`. Read once,
 * at import: a missing file stops the start, not the first request.
 */
export function loadSql(moduleUrl: string, path: string): string {
  const url = new URL(path, moduleUrl).href;
  const known = cache.get(url);
  if (known !== undefined) return known;
  const text = readFileSync(fileURLToPath(url), 'utf8');
  cache.set(url, text);
  return text;
}
