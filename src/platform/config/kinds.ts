import { z } from 'zod';
import { parseCidr } from '../../core/address-policy.js';
import { parseRedisUrl } from '../coordination/redis-url.js';

/** What a configuration field says about itself, besides its type. */
export interface FieldMeta {
  /** The environment variable. */
  env: string;
  /** What it does, with the unit. */
  description: string;
  /** Heading in `.env.example`. */
  group: string;
  /** The value is masked wherever it is shown. */
  secret?: boolean;
}

type Describe = Omit<FieldMeta, 'secret'>;

/** The describing part of fields that share a heading. */
export const into =
  (group: string) =>
  (env: string, description: string): Describe => ({ env, description, group });

const WHOLE = /^[+-]?\d+$/;
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)$/;

function numberText(pattern: RegExp, what: string) {
  return z.string().transform((text, ctx) => {
    if (pattern.test(text.trim())) return Number(text);
    ctx.addIssue({ code: 'custom', message: `must be ${what}, not "${text}"` });
    return z.NEVER;
  });
}

function bounds(min: number, max: number) {
  return {
    min: { error: `must be at least ${min}` },
    max: { error: `must be at most ${max}` },
  };
}

/** A whole number within bounds. */
export function integer(meta: Describe, min: number, max: number, preset: number) {
  const say = bounds(min, max);
  return numberText(WHOLE, 'a whole number')
    .pipe(z.number().min(min, say.min).max(max, say.max))
    .default(preset)
    .meta({ ...meta });
}

/** A number within bounds, with a fraction. */
export function decimal(meta: Describe, min: number, max: number, preset: number) {
  const say = bounds(min, max);
  return numberText(DECIMAL, 'a number')
    .pipe(z.number().min(min, say.min).max(max, say.max))
    .default(preset)
    .meta({ ...meta });
}

/** A non-empty text. */
export function text(meta: Describe, preset: string) {
  return z
    .string()
    .default(preset)
    .meta({ ...meta });
}

/** One of a list of words. */
export function choice<const T extends readonly [string, ...string[]]>(
  meta: Describe,
  words: T,
  preset: T[number],
) {
  const error = `must be one of ${words.join(', ')}`;
  return z
    .enum(words, { error })
    .default(preset)
    .meta({ ...meta });
}

/** An absolute URL of one of the schemes; it may carry a password, so it is a secret. Absent by default. */
export function secretUrl(meta: Describe, schemes: readonly string[]) {
  return z
    .string()
    .refine((url) => URL.canParse(url) && schemes.includes(new URL(url).protocol.slice(0, -1)), {
      error: `must be a URL that starts with ${schemes.map((s) => `${s}://`).join(' or ')}`,
    })
    .optional()
    .meta({ ...meta, secret: true });
}

/** Where Redis is, in any form that the coordinator reads. Absent by default. */
export function redisUrl(meta: Describe) {
  return z
    .string()
    .superRefine((url, ctx) => {
      try {
        parseRedisUrl(url);
      } catch (error) {
        const message = (error as Error).message.replace(/^REDIS_URL /, '');
        ctx.addIssue({ code: 'custom', message });
      }
    })
    .optional()
    .meta({ ...meta, secret: true });
}

/** A comma-separated list of secrets of at least `minLength` characters each. Empty by default. */
export function secrets(meta: Describe, minLength: number) {
  return z
    .string()
    .transform((value) => Object.freeze(value.split(',').map((part) => part.trim())))
    .refine((parts) => parts.every((part) => part.length >= minLength), {
      error: `each entry must have at least ${minLength} characters`,
    })
    .default(Object.freeze([]))
    .meta({ ...meta, secret: true });
}

/** A comma-separated list of IP addresses and CIDR ranges. Empty by default. */
export function addressRanges(meta: Describe) {
  return z
    .string()
    .transform((value) => Object.freeze(value.split(',').map((part) => part.trim())))
    .superRefine((parts, ctx) => {
      for (const part of parts.filter((range) => parseCidr(range) === undefined))
        ctx.addIssue({ code: 'custom', message: `must hold IP addresses and CIDR ranges, not "${part}"` });
    })
    .default(Object.freeze([]))
    .meta({ ...meta });
}

/** A comma-separated list of names. Empty by default. */
export function names(meta: Describe) {
  return z
    .string()
    .transform((value) =>
      Object.freeze(
        value
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== ''),
      ),
    )
    .default(Object.freeze([]))
    .meta({ ...meta });
}

/** Where a secret lies, as dependencies name theirs. Empty by default. */
export function credentialReference(meta: Describe) {
  return z
    .string()
    .regex(/^(env:REACH_CREDENTIAL_\w+|file:[\w.-]+)$/, 'must be env:REACH_CREDENTIAL_NAME or file:NAME')
    .default('')
    .meta({ ...meta });
}
