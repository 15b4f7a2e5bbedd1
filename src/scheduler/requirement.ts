import { isVersionRange } from '../core/eligibility.js';
import { ReachError } from '../core/errors.js';
import { parseCapabilityRef, type Requirement } from '../core/lane.js';
import type { Aliases } from '../registry/aliases.js';
import type { TaskBody } from './tasks.wire.js';

/** What a body asks of the agent. */
export type Asked = Pick<
  TaskBody,
  'namespace' | 'capability' | 'capabilities' | 'agent_id' | 'name' | 'constraints'
>;

/**
 * Aliases are read as what they stand for.
 * @throws ReachError VALIDATION_FAILED for a version range that is none
 */
export function requirementFor(body: Asked, aliases: Aliases): Requirement {
  const refs = body.capabilities ?? (body.capability === undefined ? [] : [body.capability]);
  const c = body.constraints;
  const requirement: Requirement = {
    namespace: body.namespace,
    capabilities: refs.map((ref) => {
      const need = parseCapabilityRef(ref);
      return { ...need, name: aliases.resolve(body.namespace, need.name) };
    }),
    ...(body.agent_id !== undefined && { agentId: body.agent_id }),
    ...(body.name !== undefined && { name: body.name }),
    ...(c?.version !== undefined && { version: c.version }),
    ...(c?.tags !== undefined && { tags: c.tags }),
    ...(c?.zone !== undefined && { zone: c.zone }),
    ...(c?.exclude !== undefined && { exclude: c.exclude }),
  };
  if (requirement.version !== undefined && !isVersionRange(requirement.version))
    throw invalidAt('/constraints/version', `"${requirement.version}" is not a semver range`);
  requirement.capabilities.forEach((need, i) => {
    if (need.version !== undefined && !isVersionRange(need.version))
      throw invalidAt(
        body.capability === undefined ? `/capabilities/${i}` : '/capability',
        `"${need.version}" is not a semver range`,
      );
  });
  return requirement;
}

/** The names that were asked for, where an alias was among them. */
export function askedFor({ capability, capabilities }: Asked, meant: Requirement): string | null {
  const names = (capabilities ?? (capability === undefined ? [] : [capability])).map(
    (ref) => parseCapabilityRef(ref).name,
  );
  return names.every((name, i) => name === meant.capabilities[i]?.name) ? null : names.join('+');
}

export function invalidAt(pointer: string, detail: string): ReachError {
  return new ReachError('VALIDATION_FAILED', detail, { errors: [{ pointer, detail }] });
}
