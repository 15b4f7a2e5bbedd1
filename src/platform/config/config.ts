import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { z } from 'zod';
import { failpointProblems, TEST_KEYS } from '../lifecycle/failpoints.js';
import { fields } from './fields.js';
import type { FieldMeta } from './kinds.js';
import { nearest } from '../nearest.js';

/** Every setting, parsed, bounded and frozen. Names are the camelCase of the variables. */
export type Config = Readonly<z.output<z.ZodObject<typeof fields>>>;
type FieldName = keyof Config;

/** Injection token of `Config`. */
export const CONFIG = Symbol('CONFIG');

/** Variables that start with `REACH_` but belong to clients and agents, so the server lets them stand. */
const FOREIGN_KEYS = new Set(['REACH_URL', 'REACH_TOKEN', 'REACH_NAMESPACE', 'REACH_AGENT_ID']);

/** The environment is wrong. The message lists every problem, one a line. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** What each field says about itself, by field name. */
export const FIELD_META = Object.fromEntries(
  Object.entries(fields).map(([name, field]) => [name, field.meta() as unknown as FieldMeta]),
) as Readonly<Record<FieldName, FieldMeta>>;

export const FIELD_NAMES = Object.keys(fields) as FieldName[];

/**
 * Parses the environment. Unset and empty variables take their default.
 *
 * @throws ConfigError that lists every problem at once: wrong values, unknown `REACH_*` variables with the
 * nearest known name, and combinations that are refused.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const problems = [...unknownKeys(env), ...failpointProblems(env)];
  const values: Partial<Record<FieldName, unknown>> = {};
  for (const name of FIELD_NAMES) {
    const parsed = fields[name].safeParse(present(env, name));
    if (parsed.success) values[name] = parsed.data;
    else problems.push(...parsed.error.issues.map((issue) => `${FIELD_META[name].env} ${issue.message}`));
  }
  problems.push(...refusedCombinations(values as Partial<Config>));
  if (problems.length > 0) throw new ConfigError(problems);
  const config = values as Config;
  return Object.freeze({
    ...config,
    replicaId: config.replicaId || `${hostname()}-${randomUUID().slice(0, 8)}`,
  });
}

/** One line of `reach config`. */
export interface ConfigEntry {
  name: string;
  env: string;
  value: string;
  source: 'environment' | 'default';
  description: string;
}

/** The effective values with their source; secrets are masked. */
export function describeConfig(
  config: Config,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ConfigEntry[] {
  return FIELD_NAMES.map((name) => {
    const meta = FIELD_META[name];
    return {
      name,
      env: meta.env,
      value: meta.secret ? mask(config[name]) : String(config[name]),
      source: present(env, name) === undefined ? 'default' : 'environment',
      description: meta.description,
    };
  });
}

/** True when the address can only be reached from this machine. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1' || host === '[::1]') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

function present(env: Readonly<Record<string, string | undefined>>, name: FieldName): string | undefined {
  const value = env[FIELD_META[name].env];
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

function mask(value: Config[FieldName]): string {
  if (typeof value === 'object') return value.map(() => '***').join(',');
  if (typeof value !== 'string') return '';
  // By pattern: a list of hosts is no URL that the parser would take.
  return value
    .replace(/^([a-z-]+:\/\/[^/?#@]*:)[^/?#]*@/i, '$1***@')
    .replace(/([?&][^=&#]*password[^=&#]*=)[^&#]*/gi, '$1***');
}

/** Secrets for probes of dependencies, under names that whoever runs the process chooses. */
const CREDENTIAL_KEY = /^REACH_CREDENTIAL_/;

/** Kubernetes sets these in every pod when a service is called `reach`. */
const KUBERNETES_KEY = /^REACH_(SERVICE|PORT)(_|$)/;

function unknownKeys(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = FIELD_NAMES.map((name) => FIELD_META[name].env);
  const injected = (key: string) => env['KUBERNETES_SERVICE_HOST'] !== undefined && KUBERNETES_KEY.test(key);
  return Object.keys(env)
    .filter(
      (key) =>
        key.startsWith('REACH_') &&
        !known.includes(key) &&
        !FOREIGN_KEYS.has(key) &&
        !TEST_KEYS.has(key) &&
        !CREDENTIAL_KEY.test(key) &&
        !injected(key),
    )
    .map((key) => {
      const hint = nearest(key, known);
      return `${key} is not a setting${hint ? `; did you mean ${hint}?` : ''}`;
    });
}

/** A value that is not valid is absent here and blames nobody else; its own problem is listed already. */
function refusedCombinations(values: Partial<Config>): string[] {
  const { httpHost, authTokens, redisUrl, bodyLimitBytes, batchBodyLimitBytes } = values;
  const problems: string[] = [];
  if (httpHost !== undefined && !isLoopback(httpHost) && authTokens?.length === 0) {
    problems.push(
      `REACH_HTTP_HOST ${httpHost} can be reached from other machines, so REACH_AUTH_TOKENS must be set`,
    );
  }
  // An absent database is a valid value, unlike one that could not be read.
  if (redisUrl !== undefined && 'databaseUrl' in values && values.databaseUrl === undefined) {
    problems.push('REDIS_URL needs DATABASE_URL: replicas that share a Redis must share their ledger too');
  }
  if (
    bodyLimitBytes !== undefined &&
    batchBodyLimitBytes !== undefined &&
    batchBodyLimitBytes < bodyLimitBytes
  ) {
    problems.push('REACH_BATCH_BODY_LIMIT_BYTES must be at least REACH_BODY_LIMIT_BYTES');
  }
  return problems;
}
