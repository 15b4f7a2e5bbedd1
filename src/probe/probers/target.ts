import type { z } from 'zod';
import { type FieldError, ReachError } from '../../core/errors.js';
import { pointerOf } from '../../platform/http/json-body.js';
import type { ProbeLimits } from '../prober.js';

/** A dependency whose `target` is there: without one there is nothing to probe. */
export type Targeted<T extends { target?: string | undefined }> = T & { target: string };

/**
 * Reads a declared dependency by its schema.
 * @throws ReachError VALIDATION_FAILED
 */
export function readTarget<T extends { target?: string | undefined }>(
  schema: z.ZodType<T>,
  declared: unknown,
): Targeted<T> {
  const read = schema.safeParse(declared);
  if (!read.success)
    throw invalid(
      read.error.issues.map((issue) => ({ pointer: pointerOf(issue.path), detail: issue.message })),
    );
  const { target } = read.data;
  if (target === undefined) throw invalid([{ pointer: '/target', detail: 'is needed to probe it' }]);
  return { ...read.data, target };
}

function invalid(errors: FieldError[]): ReachError {
  const [first] = errors;
  const where = `${first?.pointer ?? ''}: ${first?.detail ?? ''}`;
  return new ReachError('VALIDATION_FAILED', `the dependency cannot be probed: ${where}`, { errors });
}

export interface Declared {
  type: string;
  target: string;
  slow_ms?: number | undefined;
  credential?: string | undefined;
  options: object;
}

/** When an answer counts as slow, in milliseconds. */
export function slowMsOf(declared: Declared, limits: ProbeLimits): number {
  return declared.slow_ms ?? limits.totalMs / 2;
}

/** Everything that makes a difference to what a probe finds; how long it may take is told to it for each probe. */
export function keyOfTarget({ type, target, credential, options, slow_ms }: Declared): string {
  return JSON.stringify([type, target, credential ?? null, sorted(options), slow_ms ?? null]);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** `host:port` of a URL, or of a server's URL with the usual port of its kind. */
export function hostPort(url: string, usualPort?: number): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname.toLowerCase()}:${port || (usualPort ?? PORTS[protocol] ?? '')}`;
}
