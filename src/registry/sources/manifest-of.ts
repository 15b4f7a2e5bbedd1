import { isIPv6 } from 'node:net';
import { nearest } from '../../platform/nearest.js';
import { registerBody, type RegisterBody } from '../agents.wire.js';
import { SourceError, wrongIn, type SourceInstance } from './registry-source.js';

/** What the metadata of an instance may say about the agent; everything else in it is its own business. */
const KEYS = [
  'reach_agent_id',
  'reach_name',
  'reach_capabilities',
  'reach_dependencies',
  'reach_scheme',
  'reach_path',
  'reach_max_concurrency',
  'reach_weight',
  'reach_tags',
  'reach_zone',
  'reach_version',
  'reach_features',
] as const;
type Key = (typeof KEYS)[number];
const PREFIX = 'reach_';

/**
 * The registration that an instance of a service stands for: pushed to at its address, by the rules that hold for
 * every registration.
 * @throws SourceError naming the instance and what is wrong with it
 */
export function registrationOf(instance: SourceInstance, namespace: string): RegisterBody {
  const { service, host, port, meta } = instance;
  for (const key of Object.keys(meta)) if (key.startsWith(PREFIX)) requireKnown(instance, key);
  const of = (key: Key): string | undefined => meta[key]?.trim() || undefined;
  const path = of('reach_path') ?? '/';
  const address = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const [zone, version] = [of('reach_zone'), of('reach_version')];
  const result = registerBody.safeParse({
    namespace,
    agent_id: of('reach_agent_id') ?? `${service}-${host}-${port}`,
    name: of('reach_name') ?? service,
    capabilities: listOf(of('reach_capabilities') ?? service).map(capabilityOf),
    dependencies: jsonOf(instance, 'reach_dependencies', of('reach_dependencies')) ?? [],
    transport: 'push',
    endpoint: `${of('reach_scheme') ?? 'http'}://${address}${path.startsWith('/') ? '' : '/'}${path}`,
    max_concurrency: numberOf(of('reach_max_concurrency')),
    weight: numberOf(of('reach_weight')),
    tags: listOf(of('reach_tags')),
    features: listOf(of('reach_features')),
    metadata: { service, ...(zone !== undefined && { zone }), ...(version !== undefined && { version }) },
  });
  if (result.success) return result.data;
  throw refused(instance, wrongIn(result.error));
}

function requireKnown(instance: SourceInstance, key: string): void {
  if ((KEYS as readonly string[]).includes(key)) return;
  const hint = nearest(key, KEYS);
  throw refused(
    instance,
    `its metadata has ${key}, which means nothing${hint ? `; did you mean ${hint}?` : ''}`,
  );
}

/** Separated by commas. */
function listOf(text: string | undefined): string[] {
  if (text === undefined) return [];
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** `name` or `name@version`. */
function capabilityOf(text: string): string | { name: string; version: string } {
  const at = text.lastIndexOf('@');
  return at <= 0 ? text : { name: text.slice(0, at), version: text.slice(at + 1) };
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function jsonOf(instance: SourceInstance, key: Key, text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw refused(instance, `${key} is no JSON: ${(error as Error).message}`);
  }
}

function refused(instance: SourceInstance, why: string): SourceError {
  return new SourceError(`${instance.id} cannot be taken over: ${why}`);
}
