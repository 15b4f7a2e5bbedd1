import type { Shortage } from './eligibility.js';
import type { ErrorCode } from './errors.js';
import type { Evidence, RetryVerdict } from './retry.js';

/** Where on its way the task failed. */
export const STAGES = ['admission', 'placement', 'offer', 'execution', 'result'] as const;
export type Stage = (typeof STAGES)[number];

/** Whose trouble it is. */
export const BLAMES = ['dependency', 'agent', 'network', 'caller', 'platform'] as const;
export type Blame = (typeof BLAMES)[number];

/** What ended an attempt, or a task that waits for one, as far as it is known at that moment. */
export type Incident =
  | { kind: 'ack_timeout'; agentId: string; transport: string; ackTimeoutMs: number; agentState: string }
  | {
      kind: 'execution_timeout';
      agentId: string;
      executionTimeoutMs: number;
      /** It was the time of the whole task that ended. */
      over?: true;
      progressNote?: string;
    }
  | { kind: 'lease_expired'; agentId: string; running: boolean; lastHeartbeatAt: string }
  | { kind: 'restarted'; agentId: string; running: boolean; newLeaseAt: string }
  | { kind: 'drained'; agentId: string; running: boolean }
  | { kind: 'push_failed'; agentId: string; reason: string; sent: boolean; detail: string }
  | {
      kind: 'reported';
      agentId: string;
      code: ErrorCode;
      foreignCode?: string;
      message: string;
      dependency?: string;
      retryable?: boolean;
    }
  | { kind: 'expired'; capability: string; waitedMs: number; hindrance: Hindrance }
  | { kind: 'unplaceable'; capability: string; shortage: Shortage };

/** What kept a task from being placed: no agent for it, an operator's order, trouble of ours, or its own time. */
export type Hindrance =
  | Shortage
  /** the reason is the operator's, and may be empty */
  | { kind: 'paused'; capability: string; reason: string }
  | { kind: 'failing'; reason: string }
  | { kind: 'unacknowledged'; agentId: string }
  | { kind: 'not_due'; runAt: string };

export interface Attribution {
  code: ErrorCode;
  stage: Stage;
  blame: Blame;
  evidenceOfWork: Evidence;
  dependency?: string;
  /** One sentence a person can act on, without its consequence (see `consequence`). */
  message: string;
}

const seconds = (ms: number): string => `${Number((ms / 1000).toFixed(ms < 10_000 ? 1 : 0))} s`;

/** Says of a failure: code, stage, who is to blame, whether work may have begun, and one sentence. Pure. */
export function attribute(incident: Incident): Attribution {
  switch (incident.kind) {
    case 'ack_timeout':
      return ackTimeout(incident);
    case 'execution_timeout':
      return {
        code: 'EXECUTION_TIMEOUT',
        stage: 'execution',
        blame: 'agent',
        evidenceOfWork: 'maybe_started',
        message:
          `agent ${incident.agentId} did not finish ${incident.over ? 'in what was left of the time of the task' : `within ${seconds(incident.executionTimeoutMs)}`}` +
          (incident.progressNote === undefined ? '' : `; its last word was "${incident.progressNote}"`),
      };
    case 'lease_expired':
      return {
        ...lost(incident),
        message: `agent ${incident.agentId} was lost ${holding(incident)}: last heartbeat at ${incident.lastHeartbeatAt}`,
      };
    case 'restarted':
      return {
        ...lost(incident),
        message: `agent ${incident.agentId} restarted ${holding(incident)} (new lease at ${incident.newLeaseAt})`,
      };
    case 'drained':
      return {
        ...lost(incident),
        message: `agent ${incident.agentId} left and did not finish within its drain time`,
      };
    case 'push_failed':
      return pushFailed(incident);
    case 'reported':
      return reported(incident);
    case 'expired':
      return expired(incident);
    case 'unplaceable':
      return unplaceable(incident);
  }
}

function ackTimeout(i: Extract<Incident, { kind: 'ack_timeout' }>): Attribution {
  return {
    code: 'ACK_TIMEOUT',
    stage: 'offer',
    blame: 'agent',
    evidenceOfWork: i.transport === 'push' ? 'maybe_started' : 'never_started',
    message: `agent ${i.agentId} (${i.agentState}) did not acknowledge the delivery within ${seconds(i.ackTimeoutMs)}`,
  };
}

const holding = (i: { running: boolean }): string =>
  i.running ? 'while it ran the task' : 'before it began the task';

function lost(i: { running: boolean }): Omit<Attribution, 'message'> {
  return {
    code: 'AGENT_LOST',
    stage: i.running ? 'execution' : 'offer',
    blame: 'agent',
    evidenceOfWork: i.running ? 'maybe_started' : 'never_started',
  };
}

function pushFailed(i: Extract<Incident, { kind: 'push_failed' }>): Attribution {
  const refused = i.reason === 'refused';
  return {
    code: refused ? 'AGENT_REFUSED' : 'CONNECTION_FAILED',
    stage: 'offer',
    blame: refused ? 'agent' : 'network',
    evidenceOfWork: i.sent && !refused ? 'maybe_started' : 'never_started',
    message: refused
      ? `agent ${i.agentId} declined the delivery: ${i.detail}`
      : `the delivery could not be pushed to agent ${i.agentId}: ${i.detail}`,
  };
}

function reported(i: Extract<Incident, { kind: 'reported' }>): Attribution {
  const said = i.message === '' ? ' without a message' : `: ${i.message}`;
  const base = { code: i.code, stage: 'execution' as const, evidenceOfWork: 'failed_for_sure' as const };
  if (i.dependency !== undefined || i.code === 'DEPENDENCY_DOWN') {
    const dependency = i.dependency ?? '(not named)';
    return {
      ...base,
      blame: 'dependency',
      dependency,
      message: `dependency ${dependency} of agent ${i.agentId} failed${said}`,
    };
  }
  if (i.code === 'AGENT_REFUSED')
    return {
      ...base,
      stage: 'offer',
      blame: 'agent',
      evidenceOfWork: 'never_started',
      message: `agent ${i.agentId} declined the task${said}`,
    };
  if (i.code === 'CONTRACT_MISMATCH')
    return {
      ...base,
      blame: 'caller',
      message: `agent ${i.agentId} found the payload not to its contract${said}`,
    };
  if (i.code === 'PAYLOAD_TOO_LARGE')
    return { ...base, blame: 'agent', message: `the result of agent ${i.agentId} was too large${said}` };
  const code = i.foreignCode === undefined ? '' : ` (${i.foreignCode})`;
  return { ...base, blame: 'agent', message: `agent ${i.agentId} reported an error${code}${said}` };
}

function expired(i: Extract<Incident, { kind: 'expired' }>): Attribution {
  const { blame, why } = hindered(i.capability, i.hindrance);
  return {
    code: 'TASK_EXPIRED',
    stage: 'placement',
    blame,
    evidenceOfWork: 'never_started',
    message: `no agent took the task within ${seconds(i.waitedMs)}: ${why}`,
  };
}

/** Nobody could take it, and its policy says not to wait for somebody. */
function unplaceable(i: Extract<Incident, { kind: 'unplaceable' }>): Attribution {
  const { blame, why } = hindered(i.capability, i.shortage);
  return {
    code: i.shortage.kind === 'no_capable' ? 'NO_CAPABLE_AGENT' : 'NO_REACHABLE_AGENT',
    stage: 'placement',
    blame,
    evidenceOfWork: 'never_started',
    message: `${why}, and its policy is not to wait for one`,
  };
}

function hindered(capability: string, h: Hindrance): { blame: Blame; why: string } {
  switch (h.kind) {
    case 'paused':
      return {
        blame: 'platform',
        why: `the capability ${h.capability} was paused${h.reason === '' ? '' : `: ${h.reason}`}`,
      };
    case 'failing':
      return { blame: 'platform', why: `tasks could not be given out: ${h.reason}` };
    case 'unacknowledged':
      return { blame: 'agent', why: `${h.agentId} was offered it, and did not acknowledge in time` };
    case 'not_due':
      return { blame: 'caller', why: `it expired before its time came, at ${h.runAt}` };
    case 'no_capable':
      return {
        blame: 'caller',
        why:
          h.rejections.length === 0
            ? `no registered agent offers ${capability}`
            : `no agent fits ${capability} (${namesOf(h)})`,
      };
    case 'no_reachable':
      return { blame: 'agent', why: `no agent with ${capability} was reachable (${namesOf(h)})` };
    case 'busy':
      return { blame: 'platform', why: `every agent with ${capability} was busy (${namesOf(h)})` };
  }
}

function namesOf(shortage: Shortage): string {
  return shortage.rejections.map((r) => `${r.agentId} ${r.reason}`).join('; ');
}

/** What follows from a failed attempt, to end the sentence with. */
export function consequence(verdict: RetryVerdict, retryInMs: number): string {
  if (verdict.retry) return `; another attempt follows in ${seconds(retryInMs)}`;
  switch (verdict.because) {
    case 'attempts_used':
      return '; no attempts are left';
    case 'not_idempotent':
      return '; it may have begun and is not idempotent, so it is not run again';
    case 'over':
      return '; no time is left';
    case 'final':
      return '; another attempt would not help';
  }
}
