import { AGENT_CHECKS } from './agent-checks.js';
import { CLIENT_CHECKS } from './client-checks.js';
import { type Check, type History, Indexed, type Violation } from './history.js';
import { workGoesOn } from './liveness.js';
import { TASK_CHECKS } from './task-checks.js';

export const CHECKS: readonly Check[] = [...TASK_CHECKS, ...AGENT_CHECKS, ...CLIENT_CHECKS, workGoesOn];

export interface Finding {
  check: string;
  says: string;
  violations: Violation[];
}

/** Holds every invariant against a history. */
export function runChecks(history: History): Finding[] {
  const indexed = new Indexed(history);
  return CHECKS.map((check) => ({ check: check.name, says: check.says, violations: check.find(indexed) }));
}
