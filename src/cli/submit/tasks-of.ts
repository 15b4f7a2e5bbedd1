import type { TaskRequest } from '@agent-reach/sdk';
import { UsageError } from '../usage-error.js';

/** The options of `submit` that say something about the task. */
export interface TaskFlags {
  agent?: string;
  name?: string;
  priority?: number;
  idempotent?: boolean;
  delayMs?: number;
  runAt?: string;
  expiresInMs?: number;
  ackTimeoutMs?: number;
  executionTimeoutMs?: number;
  maxAttempts?: number;
  tag?: string[];
  exclude?: string[];
  parent?: string;
  key?: string;
}

/**
 * Makes tasks from flags and records. With a target on the command line (a capability, --agent or --name) each
 * record is a payload; without, each record is a task of its own, and flags are what it leaves out.
 */
export function tasksOf(
  capability: string | undefined,
  flags: TaskFlags,
): { one: (payload: unknown) => TaskRequest; of: (record: unknown, at: number) => TaskRequest } {
  const common = withoutUndefined({
    capability,
    agent_id: flags.agent,
    name: flags.name,
    priority: flags.priority,
    idempotent: flags.idempotent,
    delay_ms: flags.delayMs,
    run_at: flags.runAt,
    expires_in_ms: flags.expiresInMs,
    ack_timeout_ms: flags.ackTimeoutMs,
    execution_timeout_ms: flags.executionTimeoutMs,
    max_attempts: flags.maxAttempts,
    parent_task_id: flags.parent,
    idempotency_key: flags.key,
    constraints:
      flags.tag || flags.exclude ? withoutUndefined({ tags: flags.tag, exclude: flags.exclude }) : undefined,
  }) as TaskRequest;
  const hasTarget = capability !== undefined || flags.agent !== undefined || flags.name !== undefined;
  return {
    one: (payload) => {
      if (!hasTarget) throw new UsageError('say what the task needs: a capability, --agent or --name');
      return { ...common, payload };
    },
    of: (record, at) => {
      if (hasTarget) return { ...common, payload: record };
      if (typeof record !== 'object' || record === null || Array.isArray(record))
        throw new UsageError(
          `record ${at} is not a task (an object with capability, agent_id or name); ` +
            'to send it as a payload, name the capability on the command line',
        );
      return { ...common, ...record };
    },
  };
}

function withoutUndefined(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/**
 * The payload on the command line: JSON where it is JSON, text where not; left out: null.
 * @throws UsageError for what begins as an object or a list and is none: a slip that would go out as text
 */
export function payloadOf(text: string | undefined): unknown {
  if (text === undefined) return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (/^\s*[[{]/.test(text)) throw new UsageError(`--payload is not JSON: ${(error as Error).message}`);
    return text;
  }
}
