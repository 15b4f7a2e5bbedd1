/**
 * A lane is the queue of one requirement: everything that decides which agents may take a task, and nothing
 * else. Tasks of one lane are interchangeable for placement, but for the agents each has already tried.
 */
export interface Requirement {
  namespace: string;
  /** Sorted; the agent offers all of them. Empty when the task is addressed to an agent or a name alone. */
  capabilities: readonly CapabilityNeed[];
  agentId?: string;
  name?: string;
  version?: string;
  tags?: readonly string[];
  zone?: string;
  exclude?: readonly string[];
  /** Agents that handle so many tasks of the chain of calls already that they get no more. */
  spent?: readonly string[];
  /** The caller calls the agent itself, without a task: such requirements have no lane. */
  direct?: true;
}

export interface CapabilityNeed {
  name: string;
  /** semver range */
  version?: string;
}

/** The longest lane key that is taken, in characters: a Postgres index entry must hold it. */
export const MAX_LANE_LENGTH = 600;

type Encoded = {
  c?: string[];
  a?: string;
  n?: string;
  v?: string;
  t?: string[];
  z?: string;
  x?: string[];
  s?: string[];
};

/** The lane's key: canonical JSON, so that equal requirements give equal keys and a key tells its requirement. */
export function laneOf(r: Requirement): string {
  const e: Encoded = {};
  if (r.capabilities.length > 0)
    e.c = [
      ...new Set(r.capabilities.map((c) => (c.version === undefined ? c.name : `${c.name}@${c.version}`))),
    ].sort();
  if (r.agentId !== undefined) e.a = r.agentId;
  if (r.name !== undefined) e.n = r.name;
  if (r.version !== undefined) e.v = r.version;
  if (r.tags !== undefined && r.tags.length > 0) e.t = [...new Set(r.tags)].sort();
  if (r.zone !== undefined) e.z = r.zone;
  if (r.exclude !== undefined && r.exclude.length > 0) e.x = [...new Set(r.exclude)].sort();
  if (r.spent !== undefined && r.spent.length > 0) e.s = [...new Set(r.spent)].sort();
  return JSON.stringify([r.namespace, e]);
}

/** The requirement behind a key made by `laneOf`. */
export function requirementOf(lane: string): Requirement {
  const [namespace, e] = JSON.parse(lane) as [string, Encoded];
  return {
    namespace,
    capabilities: (e.c ?? []).map(parseCapabilityRef),
    ...(e.a !== undefined && { agentId: e.a }),
    ...(e.n !== undefined && { name: e.n }),
    ...(e.v !== undefined && { version: e.v }),
    ...(e.t !== undefined && { tags: e.t }),
    ...(e.z !== undefined && { zone: e.z }),
    ...(e.x !== undefined && { exclude: e.x }),
    ...(e.s !== undefined && { spent: e.s }),
  };
}

/** Reads `name` or `name@range`. */
export function parseCapabilityRef(ref: string): CapabilityNeed {
  const at = ref.indexOf('@');
  return at < 0 ? { name: ref } : { name: ref.slice(0, at), version: ref.slice(at + 1) };
}

/** What a person calls the lane: its capabilities, else the name or agent it is addressed to. */
export function laneLabel(r: Requirement): string {
  if (r.capabilities.length > 0) return r.capabilities.map((c) => c.name).join('+');
  return r.name ?? r.agentId ?? '';
}
