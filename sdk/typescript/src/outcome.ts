import { AgentRefused, TaskFailed } from './errors.js';

export interface Failure {
  code: string;
  message: string;
  retryable?: boolean | undefined;
  dependency?: string | undefined;
  raw_error?: unknown;
}

const MAX_MESSAGE = 10_000;
const MAX_STACK = 2000;
const MAX_CODE = 64;

/** What is reported when a handler threw `error`. */
export function failureOf(error: unknown): Failure {
  if (error instanceof AgentRefused)
    return { code: 'AGENT_REFUSED', message: cut(error.message, MAX_MESSAGE) };
  if (error instanceof TaskFailed) {
    return {
      code: cut(error.code || 'AGENT_ERROR', MAX_CODE),
      message: cut(error.message, MAX_MESSAGE),
      retryable: error.retryable,
      dependency: error.dependency,
      raw_error: expressible(error.raw),
    };
  }
  if (isError(error)) {
    const raw_error = {
      name: error.name,
      message: cut(error.message, MAX_MESSAGE),
      ...(error.stack === undefined ? {} : { stack: cut(error.stack, MAX_STACK) }),
    };
    return { code: 'AGENT_ERROR', message: raw_error.message, raw_error };
  }
  const text = cut(
    typeof error === 'string' ? error : (JSON.stringify(expressible(error)) ?? 'undefined'),
    MAX_MESSAGE,
  );
  return { code: 'AGENT_ERROR', message: text, raw_error: expressible(error) };
}

/** Also of another realm (vm contexts), where `instanceof` says no. */
function isError(error: unknown): error is Error {
  return error instanceof Error || Object.prototype.toString.call(error) === '[object Error]';
}

/** The `fail` operation of a delivery. */
export function failOperation(deliveryId: string, failure: Failure): object {
  return { op: 'fail', delivery_id: deliveryId, ...failure };
}

/** The fields of a `complete` operation besides its delivery, as JSON without the braces. */
export function completeOperation(outputsJson: string, meta: Record<string, unknown> | undefined): string {
  for (const _ in meta) return `"outputs":${outputsJson},"meta":${JSON.stringify(expressible(meta))}`;
  return `"outputs":${outputsJson}`;
}

/** At most `max` UTF-16 units, and never half a surrogate pair. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? max - 1 : max);
}

/** `value` if JSON can express it, else its text. */
function expressible(value: unknown): unknown {
  try {
    JSON.stringify(value);
    return value;
  } catch {
    return String(value);
  }
}
