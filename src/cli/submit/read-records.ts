import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { UsageError } from '../usage-error.js';

/**
 * The records of a file ("-": standard input): a JSON array, one JSON document, or JSON Lines. Lines are read
 * as they are needed; only a document that spans lines is held in memory.
 * @throws UsageError naming the line that is not JSON
 */
export async function* readRecords(file: string): AsyncGenerator<unknown> {
  const input = file === '-' ? process.stdin : createReadStream(file, 'utf8');
  try {
    yield* parseRecords(createInterface({ input, crlfDelay: Infinity }));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR')
      throw new UsageError(`${file} cannot be read (${code})`);
    throw error;
  }
}

/** Like `readRecords`, of lines. */
export async function* parseRecords(lines: AsyncIterable<string>): AsyncGenerator<unknown> {
  let number = 0;
  let isFirst = true;
  /** The lines of a document that spans lines. */
  let document: string[] | undefined;
  for await (const raw of lines) {
    number += 1;
    const line = number === 1 ? raw.replace(/^\ufeff/, '') : raw;
    if (document) {
      document.push(line);
      continue;
    }
    if (line.trim() === '') continue;
    const value = parse(line);
    if (value === undefined) {
      if (!isFirst) throw new UsageError(`line ${number} is not JSON`);
      document = [line];
      continue;
    }
    if (isFirst && Array.isArray(value.json)) yield* value.json as unknown[];
    else yield value.json;
    isFirst = false;
  }
  if (!document) return;
  const whole = parse(document.join('\n'));
  if (whole === undefined) throw new UsageError('the input is neither JSON nor JSON Lines');
  if (Array.isArray(whole.json)) yield* whole.json as unknown[];
  else yield whole.json;
}

function parse(text: string): { json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
