import type { z } from 'zod';
import { type Decision, replayOf } from '../core/decision.js';
import type { Policy } from '../core/policy.js';
import { type Score, type ScoreInput, scoreOf } from '../core/score.js';
import { timeoutWords } from '../core/timeouts.js';
import type { decisionView, scoredAgent } from './decision.wire.js';

/** @param policy by which it was decided; undefined where it is not known any more, and then there are no scores */
export function toDecisionView(
  agentId: string,
  decision: Decision,
  policy: Policy | undefined,
): z.input<typeof decisionView> {
  const { by, compared, of, panic, timeout, rejected } = decision;
  const scores = policy && (replayOf(decision, policy)?.scores ?? compared.map((c) => scoreOf(c, policy)));
  return {
    by,
    ...(policy !== undefined && { strategy: policy.strategy }),
    eligible: of,
    ...(panic !== undefined && { panic }),
    ...(timeout !== undefined && { execution_timeout: toTimeoutView(timeout) }),
    compared: compared.map((input, i) => ({
      ...toScoredAgent(input, scores?.[i]),
      chosen: input.agentId === agentId,
    })),
    rejected: toRejectedView(rejected),
  };
}

function toTimeoutView(timeout: NonNullable<Decision['timeout']>) {
  const { p95Ms, calls, factor } = timeout.by;
  return { ms: timeout.ms, p95_ms: p95Ms, calls, factor, text: timeoutWords(timeout) };
}

export function toRejectedView({ counts, named }: Decision['rejected']) {
  return { counts, named: named.map(({ agentId, ...why }) => ({ agent_id: agentId, ...why })) };
}

export function toScoredAgent(input: ScoreInput, score: Score | undefined): z.input<typeof scoredAgent> {
  const { successRate, p50Ms, p95Ms, idleMs } = input;
  return {
    agent_id: input.agentId,
    ...(score !== undefined && { score: rounded(score.total), parts: partsOf(score) }),
    ...(successRate !== undefined && { success_rate: successRate }),
    ...(p50Ms !== undefined && { p50_ms: p50Ms }),
    ...(p95Ms !== undefined && { p95_ms: p95Ms }),
    ...(idleMs !== undefined && { idle_ms: idleMs }),
    consecutive_failures: input.consecutiveFailures,
    in_flight: input.inFlight,
    max_concurrency: input.maxConcurrency,
    weight: input.weight,
    ...(input.throttled !== undefined && { throttled: input.throttled }),
  };
}

function partsOf({ parts }: Score): Record<string, number> {
  return Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, rounded(value)]));
}

/** To a thousandth: what is shown is read by people. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
