import { z } from 'zod';

/* Building blocks of the wire schemas. Every schema here validates, documents and types one thing. */

const CONTROL_CHARACTER = /\p{Cc}/u;

/**
 * An identifier chosen by a user: agent ids, names, keys, tags. Any text without control characters;
 * compared byte by byte (composed and decomposed accents are two ids). `.` and `..` are refused
 * because no URL path can carry them.
 */
export function userId(what: string, maxLength = 200) {
  return z
    .string()
    .min(1, `${what} must not be empty`)
    .max(maxLength, `${what} must have at most ${maxLength} characters`)
    .refine((s) => !CONTROL_CHARACTER.test(s), `${what} must not contain control characters`)
    .refine((s) => s !== '.' && s !== '..', `${what} must not be "." or ".." (no URL path can carry it)`);
}

export const namespace = userId('namespace', 100)
  .default('default')
  .meta({ description: 'Isolation domain; namespaces do not see each other.' });

/** `domain.action`, without white space; `@` is kept for versions. @param hint follows what is said of a bad one */
export function capabilityNamed(hint = '') {
  return z
    .string()
    .max(128, 'a capability name has at most 128 characters')
    .regex(/^[^\s@\p{Cc}]+$/u, `a capability name has no white space, control characters or "@"${hint}`);
}
export const capabilityName = capabilityNamed();

/** In lower case, as ids are stored and compared. */
export const uuid = z.uuid().toLowerCase();

/** Names of query parameters that carry secrets, without case, `-`, `_` and `.`. */
const SECRET_PARAMETER =
  /^(key|(api|access|auth|subscription|secret|private)key|(access|auth|api|bearer|refresh|id|session|xamzsecurity)?token|jwt|(client)?secret|password|passwd|pwd|pass|sig|(xamz|xgoog)?signature|(xamz|xgoog)?credentials?|auth|authorization)$/i;

/**
 * An http(s) URL that may be stored and shown: without user, password, and query parameters that carry secrets.
 * @param instead what to do with the secret
 */
export function plainHttpUrl(instead: string) {
  return z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .max(2000)
    .superRefine((text, context) => {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      if (url === undefined) return;
      const refuse = (what: string) =>
        context.addIssue({ code: 'custom', message: `must not hold ${what}: ${instead}` });
      if (url.username !== '' || url.password !== '') refuse('a user or password');
      for (const name of url.searchParams.keys())
        if (SECRET_PARAMETER.test(name.replace(/[-_.]/g, ''))) refuse(`a secret (query parameter ${name})`);
    });
}

/** A duration in milliseconds. */
export function durationMs(min: number, max: number) {
  return z.number().int().min(min).max(max);
}

/** PostgreSQL has no year 0. */
export const timestamp = z.iso
  .datetime()
  .refine((text) => !text.startsWith('0000'), 'there is no year 0: 0001-01-01T00:00:00Z is the earliest')
  .meta({ description: 'RFC 3339, UTC' });

/** Any JSON value. Depth, NUL and lone surrogates are checked for the whole body before schemas run. */
export const json = z.unknown().meta({ description: 'any JSON value' });

/** `<task id>.<fence>`: names one delivery of one task; opaque to clients. */
export const deliveryId = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[1-9][0-9]{0,8}$/, 'not a delivery id')
  .meta({ description: 'Names one delivery of one task; opaque.' });

/** A whole number in a query string. */
export function queryInt(min: number, max: number) {
  return z.coerce.number().int().min(min).max(max);
}

export const pageQuery = z.object({
  limit: queryInt(1, 500).default(50).meta({ description: 'Rows a page' }),
  cursor: z.string().max(500).optional().meta({ description: '`next_cursor` of the page before' }),
});

/** A page of `item`. `next_cursor` is absent on the last one. */
export function page<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), next_cursor: z.string().optional() });
}
