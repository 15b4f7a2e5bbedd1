import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { z } from 'zod';
import { type FieldError, ReachError } from '../../core/errors.js';
import { nearest } from '../nearest.js';
import { pointerOf } from './json-body.js';

/** Most bad places that one answer lists. */
const MAX_ERRORS = 50;

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  readonly code?: string;
  readonly keys?: readonly string[];
  readonly errors?: readonly (readonly Issue[])[];
}

const WHERE: Readonly<Record<string, string>> = {
  query: 'query parameter',
  param: 'path parameter',
  custom: 'header',
};

const strictOf = new WeakMap<z.ZodObject, z.ZodObject>();

/**
 * `schema`, refusing parameters that it does not know: a mistyped filter would be left out otherwise, and the answer
 * be about everything.
 */
function strict<T>(schema: T): T {
  if (!(schema instanceof z.ZodObject)) return schema;
  let strict = strictOf.get(schema);
  if (strict === undefined) strictOf.set(schema, (strict = schema.strict()));
  return strict as T & z.ZodObject;
}

/**
 * Validates what a controller takes by the schema given in its decorator (`@Body({ schema })` and so on)
 * and hands on the parsed value. Every bad place is reported at once, by JSON pointer.
 */
@Injectable()
export class SchemaPipe implements PipeTransform {
  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    if (!metadata.schema) return value;
    const schema = metadata.type === 'query' ? strict(metadata.schema) : metadata.schema;
    const result = schema['~standard'].validate(value);
    if (result instanceof Promise) return result.then((awaited) => settle(awaited, metadata));
    return settle(result, metadata);
  }
}

function settle(
  result: { readonly issues?: readonly Issue[] | undefined; readonly value?: unknown },
  metadata: ArgumentMetadata,
): unknown {
  if (!result.issues) return result.value;
  throw validationFailed(result.issues, metadata.type, metadata.data, namesOf(metadata.schema));
}

/**
 * VALIDATION_FAILED out of the issues of a schema.
 *
 * @param type where the value stood: `body`, `query`, `param`, or `custom` for a header.
 * @param name the single parameter that was validated, when it was not a whole object.
 * @param known the parameters that the call takes, for those that it does not
 */
export function validationFailed(
  issues: readonly Issue[],
  type: string,
  name?: string,
  known: readonly string[] = [],
): ReachError {
  const errors = issues
    .flatMap((issue) => flatten(issue, name === undefined ? [] : [name]))
    .slice(0, MAX_ERRORS)
    .map(({ path, detail: said, unknown }): FieldError => {
      const where = WHERE[type];
      const detail = unknown ? unknownField(String(path.at(-1)), type, known) : said;
      return {
        pointer: pointerOf(path),
        detail: where ? `${where} ${String(path[0] ?? '')}: ${detail}` : detail,
      };
    });
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new ReachError(
    'VALIDATION_FAILED',
    `${first?.pointer || 'The body'}: ${first?.detail ?? 'invalid'}${more}`,
    {
      errors,
    },
  );
}

function unknownField(name: string, type: string, known: readonly string[]): string {
  if (type !== 'query') return 'is not a field of this call';
  const hint = nearest(name, known);
  if (hint !== undefined) return `is not a parameter of this call; did you mean ${hint}?`;
  const taken = known.length === 0 ? 'none in the query' : known.join(', ');
  return `is not a parameter of this call, which takes ${taken}`;
}

function namesOf(schema: unknown): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

interface Flat {
  path: PropertyKey[];
  detail: string;
  unknown?: boolean;
}

function flatten(issue: Issue, base: readonly PropertyKey[]): Flat[] {
  const path = [...base, ...(issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part))];
  if (issue.code === 'unrecognized_keys' && issue.keys) {
    return issue.keys.map((key) => ({ path: [...path, key], detail: '', unknown: true }));
  }
  if (issue.code === 'invalid_union' && issue.errors?.length) {
    // The branch that came closest says more than "invalid".
    const nearest = issue.errors.reduce((a, b) => (depth(b) > depth(a) ? b : a));
    return nearest.flatMap((inner) => flatten(inner, path));
  }
  return [{ path, detail: issue.message.toWellFormed() }];
}

function depth(issues: readonly Issue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path?.length ?? 0));
}
