import { Registry1764500000000 } from './1764500000000-registry.js';
import { Ledger1764500001000 } from './1764500001000-ledger.js';
import { Attributions1764500002000 } from './1764500002000-attributions.js';
import { Callbacks1764500003000 } from './1764500003000-callbacks.js';
import { Facts1764500004000 } from './1764500004000-facts.js';
import { Replicas1764500006000 } from './1764500006000-replicas.js';
import { Feed1764500007000 } from './1764500007000-feed.js';
import { AgentSource1764500008000 } from './1764500008000-agent-source.js';
import { Policies1764500009000 } from './1764500009000-policies.js';
import { Decisions1764500010000 } from './1764500010000-decisions.js';
import { Timeouts1764500013000 } from './1764500013000-timeouts.js';
import { TaskTimeouts1764500014000 } from './1764500014000-task-timeouts.js';
import { Schedules1764500015000 } from './1764500015000-schedules.js';
import { Aliases1764500016000 } from './1764500016000-aliases.js';
import { CallChains1764500017000 } from './1764500017000-call-chains.js';
import { Fallback1764500018000 } from './1764500018000-fallback.js';
import { FairShare1764500019000 } from './1764500019000-fair-share.js';
import { FiringTasks1764500020000 } from './1764500020000-firing-tasks.js';
import { Callers1764500021000 } from './1764500021000-callers.js';
import { Degraded1764500022000 } from './1764500022000-degraded.js';
import { TokenKeys1764500025000 } from './1764500025000-token-keys.js';

/** Every migration, oldest first. A list rather than a glob: it reads the same from sources and from a build. */
export const MIGRATIONS = [
  Registry1764500000000,
  Ledger1764500001000,
  Attributions1764500002000,
  Callbacks1764500003000,
  Facts1764500004000,
  Replicas1764500006000,
  Feed1764500007000,
  AgentSource1764500008000,
  Policies1764500009000,
  Decisions1764500010000,
  Timeouts1764500013000,
  TaskTimeouts1764500014000,
  Schedules1764500015000,
  Aliases1764500016000,
  CallChains1764500017000,
  Fallback1764500018000,
  FairShare1764500019000,
  FiringTasks1764500020000,
  Callers1764500021000,
  Degraded1764500022000,
  TokenKeys1764500025000,
];

/** Tables partitioned by the UUID v7 range of their id column, one day a partition. */
export const PARTITIONED_TABLES = ['tasks', 'deliveries', 'attributions', 'agent_transitions'] as const;
