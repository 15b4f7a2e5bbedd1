import { integer, into } from './kinds.js';

/* Settings of probes and of what they prove. */

const DAY_MS = 86_400_000;

const MIB = 1_048_576;

const probe = into('Probes');
export const probeFields = {
  probeIntervalL1Ms: integer(
    probe('REACH_PROBE_INTERVAL_L1_MS', 'Milliseconds between TCP probes of an agent'),
    100,
    DAY_MS,
    15_000,
  ),
  probeIntervalL2Ms: integer(
    probe('REACH_PROBE_INTERVAL_L2_MS', 'Milliseconds between health probes of an agent'),
    100,
    DAY_MS,
    45_000,
  ),
  probeIntervalL3Ms: integer(
    probe('REACH_PROBE_INTERVAL_L3_MS', 'Milliseconds between deep pings of an agent'),
    100,
    DAY_MS,
    180_000,
  ),
  probeTimeoutL1Ms: integer(
    probe('REACH_PROBE_TIMEOUT_L1_MS', 'Milliseconds that a TCP probe may take'),
    10,
    600_000,
    2000,
  ),
  probeTimeoutL2Ms: integer(
    probe('REACH_PROBE_TIMEOUT_L2_MS', 'Milliseconds that a health probe may take'),
    10,
    600_000,
    5000,
  ),
  probeTimeoutL3Ms: integer(
    probe('REACH_PROBE_TIMEOUT_L3_MS', 'Milliseconds that a deep ping may take'),
    10,
    600_000,
    20_000,
  ),
  probeResponseLimitBytes: integer(
    probe('REACH_PROBE_RESPONSE_LIMIT_BYTES', 'Bytes of an answer after which a probe stops reading'),
    1024,
    16 * MIB,
    65_536,
  ),
  dependencyIntervalMs: integer(
    probe('REACH_DEPENDENCY_INTERVAL_MS', 'Milliseconds between probes of a dependency'),
    100,
    DAY_MS,
    30_000,
  ),
  offlineAfterFailures: integer(
    probe(
      'REACH_OFFLINE_AFTER_FAILURES',
      'Failed probes running after which an agent without heartbeat is offline',
    ),
    1,
    100,
    3,
  ),
  recoveryProbes: integer(probe('REACH_RECOVERY_PROBES', 'Good probes that prove a recovery'), 1, 100, 2),
  warmUpProbes: integer(
    probe('REACH_WARM_UP_PROBES', 'Good probes before a new agent takes work'),
    0,
    10_000,
    50,
  ),
  warmUpRatePerS: integer(probe('REACH_WARM_UP_RATE_PER_S', 'Warm-up probes a second'), 1, 1000, 20),
  warmUpLatencyMs: integer(
    probe(
      'REACH_WARM_UP_LATENCY_MS',
      'Mean latency in milliseconds that passes warm-up while its group has no P95',
    ),
    1,
    600_000,
    1000,
  ),
};
