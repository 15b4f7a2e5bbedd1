import { readFileSync } from 'node:fs';
import { type Document, LineCounter, isMap, parseDocument, type Node as YamlNode } from 'yaml';
import { type CapabilityDeclaration, type DependencyDeclaration } from './wire.js';

/** One bad place of a manifest. */
export interface ManifestProblem {
  /** Where in the document, for example `dependencies[1].timeout_ms`. */
  path: string;
  /** 1-based line in the file, where one can be named. */
  line: number | undefined;
  message: string;
}

/** A manifest that cannot be used; the message lists every problem with its line. */
export class ManifestError extends Error {
  constructor(
    readonly file: string,
    readonly problems: readonly ManifestProblem[],
  ) {
    super(
      problems
        .map((p) => `${file}${p.line === undefined ? '' : `:${p.line}`}: ${p.path}: ${p.message}`)
        .join('\n'),
    );
    this.name = 'ManifestError';
  }
}

/** What a manifest says, under the names of `AgentOptions`. */
export interface Manifest {
  agentId: string;
  namespace?: string;
  name?: string;
  capabilities: CapabilityDeclaration[];
  dependencies?: DependencyDeclaration[];
  transport?: 'session' | 'pull' | 'push';
  endpoint?: string;
  heartbeatIntervalMs?: number;
  leaseTtlMs?: number;
  maxConcurrency?: number;
  weight?: number;
  tags?: string[];
  metadata?: Record<string, unknown>;
}

type Check = (value: unknown) => string | undefined;

const text: Check = (v) =>
  typeof v === 'string' && v !== '' ? undefined : `must be a text that is not empty (is ${show(v)})`;
const bool: Check = (v) => (typeof v === 'boolean' ? undefined : `must be true or false (is ${show(v)})`);
const object: Check = (v) => (isObject(v) ? undefined : `must be a mapping (is ${show(v)})`);
const texts: Check = (v) =>
  Array.isArray(v) && v.every((t) => typeof t === 'string')
    ? undefined
    : `must be a list of texts (is ${show(v)})`;
const whole =
  (min: number, max: number): Check =>
  (v) =>
    typeof v === 'number' && Number.isInteger(v) && v >= min && v <= max
      ? undefined
      : `must be a whole number from ${min} to ${max} (is ${show(v)})`;
const oneOf =
  (...allowed: string[]): Check =>
  (v) =>
    allowed.includes(v as string) ? undefined : `must be one of ${allowed.join(', ')} (is ${show(v)})`;

const TOP: Record<string, Check> = {
  agent_id: text,
  namespace: text,
  name: text,
  capabilities: (v) =>
    Array.isArray(v) && v.length > 0 ? undefined : 'must be a list with at least one capability',
  dependencies: (v) => (Array.isArray(v) ? undefined : `must be a list (is ${show(v)})`),
  transport: oneOf('session', 'pull', 'push'),
  endpoint: (v) =>
    typeof v === 'string' && /^https?:\/\/./.test(v) ? undefined : 'must be an http or https URL',
  heartbeat_interval_ms: whole(100, 3_600_000),
  lease_ttl_ms: whole(300, 86_400_000),
  max_concurrency: whole(1, 100_000),
  weight: whole(1, 10_000),
  tags: texts,
  metadata: object,
};
const CAPABILITY: Record<string, Check> = {
  name: text,
  version: text,
  description: text,
  input_schema: object,
  output_schema: object,
  fallbacks: texts,
};
const DEPENDENCY: Record<string, Check> = {
  name: text,
  type: oneOf('http', 'tcp', 'postgres', 'mysql', 'redis', 'nats', 'agent', 'mcp', 'a2a'),
  target: text,
  critical: bool,
  timeout_ms: whole(1, 60_000),
  slow_ms: whole(1, 60_000),
  credential: text,
  // What they may hold differs by type; the centre says at registration what is wrong with them.
  options: object,
};

/**
 * Reads and checks a manifest file.
 * @param handled the capabilities that have a handler; given, both sides must name the same ones
 * @throws ManifestError
 */
export function loadManifest(file: string, handled?: readonly string[]): Manifest {
  let source: string;
  try {
    source = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ManifestError(file, [
      { path: '(file)', line: undefined, message: `cannot be read: ${String(error)}` },
    ]);
  }
  return parseManifest(source, file, handled);
}

/** Like `loadManifest`, of a text; `file` only names it in errors. */
export function parseManifest(source: string, file: string, handled?: readonly string[]): Manifest {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines });
  const problems: ManifestProblem[] = document.errors.map((e) => ({
    path: '(syntax)',
    line: e.linePos?.[0].line,
    message: e.message.split('\n')[0] ?? 'not YAML',
  }));
  if (problems.length > 0) throw new ManifestError(file, problems);
  const report = (path: (string | number)[], message: string) =>
    problems.push({ path: pathText(path), line: lineOf(document, lines, path), message });
  const root: unknown = document.toJS();
  if (!isObject(root))
    throw new ManifestError(file, [{ path: '(file)', line: 1, message: 'must be a mapping' }]);
  checkAll(root, handled, report);
  if (problems.length > 0) throw new ManifestError(file, problems);
  return toManifest(root);
}

type Report = (path: (string | number)[], message: string) => void;

function checkAll(
  root: Record<string, unknown>,
  handled: readonly string[] | undefined,
  report: Report,
): void {
  checkFields(root, TOP, ['agent_id', 'capabilities'], [], report);
  const names = checkCapabilities(root['capabilities'], report);
  if (Array.isArray(root['dependencies'])) {
    root['dependencies'].forEach((d: unknown, i) => {
      if (isObject(d)) checkFields(d, DEPENDENCY, ['name', 'type'], ['dependencies', i], report);
      else report(['dependencies', i], `must be a mapping with name and type (is ${show(d)})`);
    });
  }
  if (root['transport'] === 'push' && root['endpoint'] === undefined)
    report(['endpoint'], 'is needed with transport "push"');
  if (!handled) return;
  for (const [name, path] of names) if (!handled.includes(name)) report(path, `"${name}" has no handler`);
  for (const name of handled)
    if (!names.has(name))
      report(['capabilities'], `there is a handler for "${name}", which is not declared here`);
}

function checkCapabilities(list: unknown, report: Report): Map<string, (string | number)[]> {
  const names = new Map<string, (string | number)[]>();
  if (!Array.isArray(list)) return names;
  list.forEach((entry: unknown, i) => {
    const path = ['capabilities', i];
    if (isObject(entry)) checkFields(entry, CAPABILITY, ['name'], path, report);
    const name = isObject(entry) ? entry['name'] : entry;
    if (typeof name !== 'string' || name === '') {
      if (!isObject(entry)) report(path, `must be a name or a mapping with a name (is ${show(entry)})`);
    } else if (/[\s@\p{Cc}]/u.test(name)) report(path, `"${name}" must not contain white space or "@"`);
    else if (names.has(name)) report(path, `"${name}" is declared twice`);
    else names.set(name, path);
  });
  return names;
}

function checkFields(
  value: Record<string, unknown>,
  checks: Record<string, Check>,
  needed: readonly string[],
  path: (string | number)[],
  report: Report,
): void {
  for (const key of needed) if (value[key] === undefined) report([...path, key], 'is missing');
  for (const [key, field] of Object.entries(value)) {
    const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
    if (!check) {
      report([...path, key], `is not known here${hint(key, Object.keys(checks))}`);
      continue;
    }
    const message = check(field);
    if (message !== undefined) report([...path, key], message);
  }
}

function toManifest(root: Record<string, unknown>): Manifest {
  const capabilities = (root['capabilities'] as (string | CapabilityDeclaration)[]).map((c) =>
    typeof c === 'string' ? { name: c } : c,
  );
  const camelCased = Object.entries(root).map(([key, value]) => [
    key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  return { ...(Object.fromEntries(camelCased) as Manifest), capabilities };
}

/** The known key that `key` was probably meant to be: same letters once `-`, `_` and case are ignored, or a beginning. */
function hint(key: string, known: string[]): string {
  const plain = (s: string) => s.toLowerCase().replace(/[^a-z]/g, '');
  const meant = known.find((k) => plain(k) === plain(key) || plain(k).startsWith(plain(key)));
  return meant === undefined ? `; known are ${known.join(', ')}` : `; did you mean ${meant}?`;
}

function lineOf(document: Document, lines: LineCounter, path: (string | number)[]): number | undefined {
  // A key that is missing is shown at its parent.
  for (let depth = path.length; depth >= 0; depth--) {
    const node =
      depth === 0 ? document.contents : (document.getIn(path.slice(0, depth), true) as YamlNode | undefined);
    const start = (isMap(node) ? node.range : node?.range)?.[0];
    if (start !== undefined) return lines.linePos(start).line;
  }
  return undefined;
}

function pathText(path: (string | number)[]): string {
  return path.reduce<string>(
    (t, p) => (typeof p === 'number' ? `${t}[${p}]` : t === '' ? p : `${t}.${p}`),
    '',
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const json = JSON.stringify(value) ?? 'nothing';
  return json.length > 40 ? `${json.slice(0, 37)}...` : json;
}
