import type { AddressPolicy } from '../../src/core/address-policy.js';
import type { ProbeResult } from '../../src/core/probe-result.js';
import { AddressGuard } from '../../src/platform/outbound/address-guard.js';
import { Credentials } from '../../src/platform/outbound/credentials.js';
import type { Prober, ProbeLimits } from '../../src/probe/prober.js';

export const OPEN: AddressPolicy = { loopback: true, private: true, allow: [], deny: [] };
export const CLOSED: AddressPolicy = { loopback: false, private: false, allow: [], deny: [] };

export const openGuard = new AddressGuard(OPEN);
export const noCredentials = new Credentials('', {});

/** Generous: a test that does not wait for a limit must not meet one on a busy machine. */
export const GENEROUS: ProbeLimits = { connectMs: 20_000, firstByteMs: 20_000, totalMs: 20_000 };

/** Parses a declaration and probes it once. */
export function probeOnce<T>(
  prober: Prober<T>,
  declared: Record<string, unknown>,
  limits: Partial<ProbeLimits> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<ProbeResult> {
  const target = prober.parse({ name: 'it', type: prober.type, timeout_ms: 60_000, ...declared });
  return prober.probe(target, { ...GENEROUS, ...limits }, signal);
}
