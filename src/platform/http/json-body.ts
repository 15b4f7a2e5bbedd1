import { isUtf8 } from 'node:buffer';
import { ReachError } from '../../core/errors.js';

/** Deepest nesting of arrays and objects that a body may have. */
export const MAX_DEPTH = 64;

/**
 * Spellings that need the walk below: NUL and surrogate escapes, the letters of the forbidden keys written
 * as escapes, the keys themselves, and exponents that may overflow. Nearly every body matches none, and one
 * pass of this expression is all that it pays.
 */
const SUSPECT = /\\u(?:0000|00[567]|[dD][89a-fA-F])|__proto__|"constructor"|\d[eE]\+?\d{3}/;

const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses a JSON body.
 *
 * @returns undefined for an empty body.
 * @throws ReachError VALIDATION_FAILED for malformed UTF-8 or JSON, nesting below 64 levels, keys that could
 * reach a prototype, and text that PostgreSQL cannot store (NUL, lone surrogates), with the JSON pointer.
 * @param anyText takes such keys and text as they are: the caller stores them with a replacement.
 */
export function parseJsonBody(raw: Buffer, anyText = false): unknown {
  if (raw.length === 0) return undefined;
  if (!isUtf8(raw)) throw invalid('', 'The body is not valid UTF-8');
  const text = raw.toString('utf8');
  if (tooDeep(text)) throw invalid('', `The body nests deeper than ${MAX_DEPTH} levels`);
  const value = parse(text);
  if (!anyText && SUSPECT.test(text)) {
    const fault = findFault(value, []);
    if (fault) throw invalid(fault.pointer, fault.detail);
  }
  return value;
}

/** What is wrong with a text, if it is something that PostgreSQL or UTF-8 cannot carry. */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the NUL character';
  if (!text.isWellFormed()) return 'must not contain a lone surrogate';
  return undefined;
}

/** RFC 6901 pointer of a path. Ill-formed characters of keys become U+FFFD, so that the answer can be sent. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => `/${String(part).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid('', `The body is not valid JSON: ${(error as Error).message.toWellFormed().slice(0, 200)}`);
  }
}

/** Looks at raw text, so that depth is known before anything recursive touches the value. */
function tooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfString(text, i);
    else if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      if (++depth > MAX_DEPTH) return true;
    } else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) depth--;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && escaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function escaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

interface Fault {
  pointer: string;
  detail: string;
}

function findFault(value: unknown, path: PropertyKey[]): Fault | undefined {
  if (typeof value === 'string') return fault(path, textFault(value));
  if (typeof value === 'number') return fault(path, Number.isFinite(value) ? undefined : 'is out of range');
  if (typeof value !== 'object' || value === null) return undefined;
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, inner] of entries as Iterable<[PropertyKey, unknown]>) {
    path.push(key);
    const found = fault(path, keyFault(key, inner)) ?? findFault(inner, path);
    if (found) return found;
    path.pop();
  }
  return undefined;
}

function keyFault(key: PropertyKey, inner: unknown): string | undefined {
  if (typeof key !== 'string') return undefined;
  const shaped = textFault(key);
  if (shaped) return `the key ${shaped}`;
  const reaches =
    key === '__proto__' ||
    (key === 'constructor' &&
      typeof inner === 'object' &&
      inner !== null &&
      Object.hasOwn(inner, 'prototype'));
  return reaches ? 'is a key that could reach a prototype' : undefined;
}

function fault(path: readonly PropertyKey[], detail: string | undefined): Fault | undefined {
  return detail === undefined ? undefined : { pointer: pointerOf(path), detail };
}

function invalid(pointer: string, detail: string): ReachError {
  const where = pointer === '' ? detail : `The body is not valid at ${pointer}: ${detail}`;
  return new ReachError('VALIDATION_FAILED', where, { errors: [{ pointer, detail }] });
}
