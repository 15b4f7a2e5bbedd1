import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultKind } from './plan/schedule.js';

/*
 * The checker is checked on the whole: each of these bugs is written into a copy of the built server, which is
 * then tortured, and has to be caught. The server itself has no switch for any of them.
 */

export interface Mutant {
  name: string;
  /** What is wrong with it. */
  is: string;
  /** Which invariants may find it. */
  caughtBy: readonly string[];
  edits: readonly Edit[];
  /** What has to happen for it to show. */
  faults: readonly FaultKind[];
  /** The ledger's own trigger would refuse what this bug does: it is taken away, to see what else finds it. */
  withoutTrigger?: boolean;
}

interface Edit {
  /** Under the directory of the built server. */
  file: string;
  find: RegExp;
  put: string;
}

const SQL = 'scheduler/sql';
const OWN_GUARD = / AND t\.fence = i\.fence AND t\.lease_id = i\.lease_id/;
const TWICE_IS_FINE: Edit = {
  file: `${SQL}/complete.sql`,
  find: /FROM done\n\)/,
  put: 'FROM done ON CONFLICT DO NOTHING\n)',
};
const DISPATCHERS: readonly FaultKind[] = [
  'kill_dispatcher',
  'freeze_dispatcher',
  'cut_postgres',
  'lock_tasks',
];
const AGENTS: readonly FaultKind[] = ['kill_agents', 'freeze_agents'];
const LATE: readonly FaultKind[] = ['freeze_agents', 'freeze_dispatcher', 'noisy_wire', 'lock_tasks'];
const LEAVING: readonly FaultKind[] = ['restart_agents'];

/** Reads the attribution that the closing statement no longer writes, and writes it on its own. */
const ATTRIBUTE =
  `INSERT INTO attributions (id, namespace, task_id, fence, attempt, final, stage, code, blame, agent_id,
  dependency, capability, message, evidence)
  SELECT (r->'attribution'->>'id')::uuid, r->>'namespace', (r->>'taskId')::uuid, (r->>'fence')::int, 1,
    r->>'next' = 'failed', r->'attribution'->>'stage', r->>'code', r->'attribution'->>'blame', r->>'agent_id',
    r->'attribution'->>'dependency', r->>'capability', r->'attribution'->>'message', '{}'
  FROM jsonb_array_elements($1::jsonb) AS r WHERE r->'attribution' <> 'null'`.replace(/\s+/g, ' ');

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'fence_unchecked',
    is: 'a result counts whatever its fence and lease',
    caughtBy: ['not_one_effective_result'],
    faults: AGENTS,
    edits: [{ file: `${SQL}/complete.sql`, find: OWN_GUARD, put: '' }],
  },
  {
    name: 'dedup_by_redis_alone',
    is: 'a key that Redis knows counts as a task, whether or not it was ever stored',
    caughtBy: ['accepted_missing', 'key_of_two_tasks'],
    faults: DISPATCHERS,
    edits: [
      {
        file: 'scheduler/admission.js',
        find: /if \(present === null\)\s+return undefined;/,
        put: `if (present === null) return undefined;
          return { added: false, taskId: present, state: 'queued', bodyDigest: task.bodyDigest };`,
      },
    ],
  },
  {
    name: 'ack_before_commit',
    is: 'an ACK is answered with execute: true before it is written',
    caughtBy: ['executed_without_claim', 'begun_again_though_not_idempotent'],
    faults: LATE,
    edits: [
      {
        file: 'scheduler/deliveries.js',
        find: /const acknowledged = await this\.store\.ack\(ref\);/,
        put: `void this.store.ack(ref).catch(() => undefined);
          const acknowledged = { deadlineInMs: 8000, deadlineAt: new Date(Date.now() + 8000) };`,
      },
    ],
  },
  {
    name: 'sweep_without_guard',
    is: 'a sweep closes what it read a moment ago, whatever has become of it',
    caughtBy: [
      'left_its_end',
      'not_exactly_one_end',
      'not_one_effective_result',
      'begun_again_though_not_idempotent',
    ],
    faults: LATE,
    withoutTrigger: true,
    edits: [
      { file: `${SQL}/close.sql`, find: / AND t\.lease_id = i\.lease_id AND t\.state = i\.seen/, put: '' },
      {
        file: `${SQL}/close.sql`,
        find: /FROM ended\n\), attributed/,
        put: 'FROM ended ON CONFLICT DO NOTHING\n), attributed',
      },
      TWICE_IS_FINE,
    ],
  },
  {
    name: 'slot_kept_after_timeout',
    is: 'a delivery that timed out keeps its slot',
    caughtBy: ['slot_kept'],
    faults: AGENTS,
    edits: [
      {
        file: 'scheduler/outcomes.js',
        find: /const key = agentKey\(o\.closed\.namespace, o\.closed\.agentId\);/,
        put: `const key = agentKey(o.closed.namespace, o.closed.agentId);
          if (/TIMEOUT/.test(o.closed.code ?? '')) continue;`,
      },
    ],
  },
  {
    name: 'offer_to_suspicious',
    is: 'an agent that is not heard any more still gets offers',
    caughtBy: ['offered_to_the_dead'],
    faults: AGENTS,
    edits: [
      {
        file: 'core/eligibility.js',
        find: /WORKING_STATES\.includes\(c\.state\)/,
        put: "(c.state === 'suspicious' || WORKING_STATES.includes(c.state))",
      },
    ],
  },
  {
    name: 'late_result_accepted',
    is: 'a result counts after its delivery was closed',
    caughtBy: ['not_one_effective_result'],
    faults: AGENTS,
    edits: [
      { file: `${SQL}/complete.sql`, find: / AND t\.lease_id = i\.lease_id/, put: '' },
      {
        file: `${SQL}/complete.sql`,
        find: /\(t\.state \|\| '' = 'running'[^\n]*\n/,
        put: "t.state || '' IN ('running', 'offered', 'scheduled', 'queued')\n",
      },
      TWICE_IS_FINE,
    ],
  },
  {
    name: 'accepted_before_commit',
    is: 'a task is answered with 202 before it is stored',
    caughtBy: ['accepted_missing'],
    faults: DISPATCHERS,
    edits: [
      {
        file: 'scheduler/admission.js',
        find: /admitted = await this\.store\.add\(task\);/,
        put: `void this.store.add(task).catch(() => undefined);
          admitted = { added: true, taskId: task.id, state: 'queued', bodyDigest: task.bodyDigest, deadlineInMs: null };`,
      },
    ],
  },
  {
    name: 'no_reconcile',
    is: 'nobody looks for work whose agent is gone, or for lanes without an order',
    caughtBy: ['orphans'],
    faults: AGENTS,
    edits: [
      { file: 'scheduler/upkeep.js', find: /async sweepOnce\(\) \{/, put: 'async sweepOnce() { return;' },
      {
        file: 'scheduler/upkeep.js',
        find: /async handOver\(agent\) \{/,
        put: 'async handOver(agent) { return;',
      },
    ],
  },
  {
    name: 'attributed_afterwards',
    is: 'the reason of a failure is written a moment after the failure, in a statement of its own',
    caughtBy: ['not_exactly_one_attribution'],
    faults: DISPATCHERS,
    edits: [
      { file: `${SQL}/close.sql`, find: /WHERE attribution_id IS NOT NULL/, put: 'WHERE false' },
      {
        file: 'scheduler/delivery.store.js',
        find: /(const \{ rows \} = await this\.sql\.run\('close', CLOSE, \[[\s\S]*?\]\);)/,
        put: `$1
          const said = JSON.stringify(rows.map((r) => ({ ...items[r.ord - 1], ...r })));
          setTimeout(() => void this.sql.run('attribute', ${JSON.stringify(ATTRIBUTE).replaceAll('$', '$$$$')}, [said]), 200);`,
      },
    ],
  },
  {
    name: 'harm_repeated',
    is: 'a task that is not idempotent is tried again after it may have begun',
    caughtBy: ['begun_again_though_not_idempotent'],
    faults: AGENTS,
    edits: [
      {
        file: 'core/retry.js',
        find: /if \(end\.evidence !== 'never_started' && !task\.idempotent\)/,
        put: 'if (false)',
      },
    ],
  },
  {
    name: 'drain_abandons',
    is: 'what runs at an agent that leaves is taken from it at once',
    caughtBy: ['drained_away'],
    faults: LEAVING,
    edits: [{ file: 'registry/registry.js', find: /drainMs \?\? this\.config\.drainMs/, put: '0' }],
  },
];

/** The plans of the bugs, each once: under them the server as it was built has to break nothing. */
export function plansOf(mutants: readonly Mutant[]): (readonly FaultKind[])[] {
  return [...new Set(mutants.map((m) => m.faults))];
}

/**
 * A copy of the built server with a bug in it.
 * @returns its main file
 * @throws Error when the place for the bug is not found: the server was changed, and the bug has to follow
 */
export function mutate(dist: string, mutant: Mutant): string {
  const copy = join(dist, 'torture', 'mutants', mutant.name);
  rmSync(copy, { recursive: true, force: true });
  for (const entry of readdirSync(dist))
    if (entry !== 'torture') cpSync(join(dist, entry), join(copy, entry), { recursive: true });
  for (const { file, find, put } of mutant.edits) {
    const path = join(copy, file);
    const before = readFileSync(path, 'utf8');
    if (!find.test(before)) throw new Error(`${mutant.name}: ${find} is not in ${file} any more`);
    writeFileSync(path, before.replace(find, put));
  }
  return join(copy, 'main.js');
}
