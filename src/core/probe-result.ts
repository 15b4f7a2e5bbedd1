/**
 * Ways in which a probe fails, told apart because each asks for something else to be done:
 *
 * - `dns`: the name has no address; `refused`, `unreachable`: nobody listens there, or no way leads there;
 * - `connect_timeout`, `first_byte_timeout`, `total_timeout`: not connected, connected and silent, too long in all;
 * - `tls`: no trustworthy encrypted connection;
 * - `unauthorized`: 401, 403 or rejected credentials (an expired key, most often);
 * - `contract`: another 4xx or a redirect: the target is there and is asked for the wrong thing;
 * - `server_error`: 5xx; `wrong_answer`: answered, but not with what was expected;
 * - `closed`: the connection was cut; `too_large`: more bytes than a probe takes;
 * - `address_denied`: the address policy forbids to connect there;
 * - `misconfigured`: our side cannot probe (no such credential, say). Never counted against the target.
 */
export const PROBE_FAULTS = [
  'dns',
  'refused',
  'unreachable',
  'connect_timeout',
  'first_byte_timeout',
  'total_timeout',
  'tls',
  'unauthorized',
  'contract',
  'server_error',
  'wrong_answer',
  'closed',
  'too_large',
  'address_denied',
  'misconfigured',
] as const;
export type ProbeFault = (typeof PROBE_FAULTS)[number];

/**
 * What one probe found out.
 *
 * `latencyMs` runs from the start of the probe to its verdict; time spent in a queue of ours is not in it.
 * `slow`: answered, but later than the target may take (its `slow_ms`). `detail` is one sentence that holds
 * no secret.
 */
export type ProbeResult =
  | { ok: true; latencyMs: number; slow: boolean; detail?: string }
  | { ok: false; fault: ProbeFault; latencyMs: number; detail: string };
