import { createHash } from 'node:crypto';
import type { SourceView } from '../../core/source-evidence.js';
import { agentKey } from '../agent-row.js';
import type { RegisterBody } from '../agents.wire.js';
import { registrationOf } from './manifest-of.js';
import { SourceError, type SourceInstance } from './registry-source.js';

/** An agent as a source lists it. */
export interface Listed {
  key: string;
  body: RegisterBody;
  /** Of everything that a registration takes over, so that a change shows, on any replica. */
  digest: string;
  healthy: boolean;
}

/** What a source lists at one time, as agents; what cannot be one is left out, with the reason. */
export interface Listing extends SourceView {
  agents: ReadonlyMap<string, Listed>;
  /** By the place they are about. */
  complaints: ReadonlyMap<string, string>;
}

/** Reads the instances of a source as agents. One that cannot be read concerns nobody else. */
export function listingOf(
  instances: readonly SourceInstance[],
  isComplete: boolean,
  namespace: string,
): Listing {
  const agents = new Map<string, Listed>();
  const complaints = new Map<string, string>();
  for (const instance of instances) {
    try {
      if (instance.unreadable !== undefined)
        throw new SourceError(`${instance.id} cannot be taken over: ${instance.unreadable}`);
      const body = registrationOf(instance, namespace);
      const key = agentKey(body.namespace, body.agent_id);
      if (agents.has(key))
        throw new SourceError(
          `${instance.id} cannot be taken over: another instance is ${body.agent_id} already`,
        );
      const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 32);
      agents.set(key, { key, body, digest, healthy: instance.healthy });
    } catch (error) {
      complaints.set(instance.id, (error as Error).message);
    }
  }
  const healthy = new Map([...agents.values()].map(({ key, healthy: isHealthy }) => [key, isHealthy]));
  return { agents, complaints, healthy, isComplete };
}
