import { integer, into, text } from './kinds.js';

/* Settings of the prober: what it asks, how often, and how much at a time. */

const prober = into('Prober');
export const probeFields = {
  zone: text(
    prober(
      'REACH_ZONE',
      'Zone of this replica; it looks after what is in its zone before replicas elsewhere do',
    ),
    '',
  ),
  membershipIntervalMs: integer(
    prober(
      'REACH_MEMBERSHIP_INTERVAL_MS',
      'Milliseconds between heartbeats of a replica; three that are missed, and others take its probes over',
    ),
    100,
    60_000,
    2000,
  ),
  dependencyIntervalMs: integer(
    prober('REACH_DEPENDENCY_INTERVAL_MS', 'Milliseconds between probes of a dependency'),
    200,
    3_600_000,
    30_000,
  ),
  echoIntervalMs: integer(
    prober(
      'REACH_ECHO_INTERVAL_MS',
      'Milliseconds between echoes of an agent; 0: every three of its heartbeat intervals',
    ),
    0,
    3_600_000,
    0,
  ),
  echoTimeoutMs: integer(
    prober('REACH_ECHO_TIMEOUT_MS', 'Milliseconds in which an agent must answer an echo'),
    50,
    60_000,
    5000,
  ),
  probeIntervalL1Ms: integer(
    prober('REACH_PROBE_INTERVAL_L1_MS', 'Milliseconds between TCP connects to the endpoint of a push agent'),
    200,
    3_600_000,
    10_000,
  ),
  probeIntervalL2Ms: integer(
    prober(
      'REACH_PROBE_INTERVAL_L2_MS',
      'Milliseconds between GETs of /healthz at the endpoint of a push agent',
    ),
    200,
    3_600_000,
    30_000,
  ),
  probeIntervalL3Ms: integer(
    prober(
      'REACH_PROBE_INTERVAL_L3_MS',
      'Milliseconds between deep pings (the probe tool) of an agent that has room',
    ),
    200,
    86_400_000,
    120_000,
  ),
  probePool: integer(
    prober('REACH_PROBE_POOL', 'Probes under way at a time in each of the four shards'),
    1,
    1000,
    64,
  ),
  probeFullTargets: integer(
    prober(
      'REACH_PROBE_FULL_TARGETS',
      'Past 10 000 agents: so many critical dependencies are probed in full, the rest is sampled',
    ),
    0,
    1_000_000,
    1000,
  ),
};
