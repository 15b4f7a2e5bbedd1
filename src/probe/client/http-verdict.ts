import { isDeepStrictEqual } from 'node:util';
import type { HttpAnswer } from './safe-http.js';
import { printable, ProbeFailure } from './probe-failure.js';

/**
 * Judges a status.
 * @param good statuses that are as they should be; absent: every 2xx
 * @throws ProbeFailure `unauthorized`, `contract`, `server_error` or `wrong_answer`
 */
export function judgeStatus(answer: HttpAnswer, good?: readonly number[]): void {
  const { status } = answer;
  if (good ? good.includes(status) : status >= 200 && status < 300) return;
  throw statusFailure(status, redirect(answer));
}

/**
 * What a status that is not good means.
 * @param whither where a redirect leads, for people
 */
export function statusFailure(status: number, whither = ''): ProbeFailure {
  if (status === 401 || status === 403 || status === 407)
    return new ProbeFailure('unauthorized', `HTTP ${status}: the credential is missing, wrong or expired`);
  if (status >= 500) return new ProbeFailure('server_error', `HTTP ${status}`);
  if (status >= 400) return new ProbeFailure('contract', `HTTP ${status}: it does not take this request`);
  if (status >= 300)
    return new ProbeFailure('contract', `HTTP ${status}: redirects are not followed${whither}`);
  return new ProbeFailure('wrong_answer', `HTTP ${status}, which is not what was expected`);
}

/** Where a redirect leads, without query: that may hold a secret. */
function redirect(answer: HttpAnswer): string {
  const { location } = answer.headers;
  return typeof location === 'string' ? ` (to ${printable(location.replace(/[?#].*$/s, ''), 100)})` : '';
}

/** @throws ProbeFailure `wrong_answer` */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProbeFailure('wrong_answer', `the answer is not JSON: ${printable(text, 80) || '(empty)'}`);
  }
}

/**
 * @param expected fields that must be there with these values, among others
 * @throws ProbeFailure `wrong_answer` that names the first field that differs
 */
export function judgeFields(value: unknown, expected: Readonly<Record<string, unknown>>): void {
  if (typeof value !== 'object' || value === null)
    throw new ProbeFailure('wrong_answer', 'the answer is no JSON object');
  for (const [key, wanted] of Object.entries(expected)) {
    const found: unknown = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
    if (isDeepStrictEqual(found, wanted)) continue;
    const shown = found === undefined ? 'missing' : printable(JSON.stringify(found), 60);
    throw new ProbeFailure(
      'wrong_answer',
      `field ${printable(key, 60)} is ${shown}, expected ${printable(JSON.stringify(wanted), 60)}`,
    );
  }
}
