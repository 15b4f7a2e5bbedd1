import type { ProbeResult } from '../../core/probe-result.js';
import type { ProbeLimits } from '../prober.js';
import { failureOf, printable, ProbeFailure } from './probe-failure.js';

/** One probe under way: what it holds, and how long it may still take. */
export class Attempt {
  private readonly held: (() => void)[] = [];
  private readonly ending = new AbortController();

  constructor(readonly limits: ProbeLimits) {}

  /** Aborts when the probe is over, for whatever reason. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** `release` is called when the probe is over, at once when it is already. It must not throw. */
  hold(release: () => void): void {
    if (this.ending.signal.aborted) release();
    else this.held.push(release);
  }

  /** Ends the probe and lets go of everything, last things first. */
  end(): void {
    this.ending.abort();
    while (this.held.length > 0) this.held.pop()?.();
  }
}

/**
 * Runs a probe within its limits and turns whatever happens into a result: never rejects, ends by
 * `limits.totalMs` or when `signal` aborts, and lets go of everything that `work` holds by then.
 *
 * @param slowMs an answer that takes longer is slow
 * @param secrets are blotted out of the detail, should a target repeat them
 * @param work resolves to a detail worth showing, rejects when the target failed
 */
export async function attempt(
  limits: ProbeLimits,
  slowMs: number,
  signal: AbortSignal,
  work: (attempt: Attempt, secrets: string[]) => Promise<string | undefined>,
): Promise<ProbeResult> {
  const begun = performance.now();
  const run = new Attempt(limits);
  const secrets: string[] = [];
  const outcome = await within(limits.totalMs, signal, () => work(run, secrets)).then(
    (detail) => ({ ok: true as const, detail }),
    (error: unknown) => ({ ok: false as const, failure: failureOf(error) }),
  );
  const latencyMs = performance.now() - begun;
  run.end();
  const show = (text: string) => printable(redact(text, secrets));
  if (!outcome.ok)
    return { ok: false, fault: outcome.failure.fault, latencyMs, detail: show(outcome.failure.message) };
  const slow = latencyMs > slowMs;
  return { ok: true, latencyMs, slow, ...(outcome.detail && { detail: show(outcome.detail) }) };
}

function within<T>(totalMs: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const calledOff = () => reject(new ProbeFailure('misconfigured', 'the probe was called off'));
    if (signal.aborted) return calledOff();
    const timer = setTimeout(
      () => reject(new ProbeFailure('total_timeout', `not done in ${totalMs} ms`)),
      totalMs,
    );
    signal.addEventListener('abort', calledOff, { once: true });
    // A failure after the end finds the promise settled, and is nobody's concern.
    work()
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', calledOff);
      });
  });
}

function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    (shown, secret) => (secret.length < 3 ? shown : shown.replaceAll(secret, '***')),
    text,
  );
}
