import type pg from 'pg';
import type { AttributionRow, DeliveryRow, KeyRow, LeaseRow, TaskRow, Transition } from './check/history.js';
import { nowMs } from './ledger.js';
import { withClient } from './system/postgres.js';

/*
 * What Postgres knows. Triggers of the run's own note every change of a task, so that the checker need not
 * believe what the product says of the past.
 */

const WATCH = `
  CREATE SCHEMA IF NOT EXISTS torture;
  CREATE TABLE torture.transitions (
    id bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(), task_id uuid NOT NULL,
    namespace text NOT NULL, was text, state text NOT NULL, fence integer NOT NULL, agent_id text);
  CREATE FUNCTION torture.note() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO torture.transitions (task_id, namespace, was, state, fence, agent_id)
    VALUES (NEW.id, NEW.namespace, CASE WHEN TG_OP = 'UPDATE' THEN OLD.state END, NEW.state, NEW.fence,
      NEW.agent_id);
    RETURN NULL;
  END $$;
  CREATE TABLE torture.leases (
    id bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(), namespace text NOT NULL,
    agent_id text NOT NULL, lease_id uuid NOT NULL);
  CREATE FUNCTION torture.note_lease() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO torture.leases (namespace, agent_id, lease_id) VALUES (NEW.namespace, NEW.agent_id, NEW.lease_id);
    RETURN NULL;
  END $$;
  CREATE TRIGGER torture_lease AFTER INSERT OR UPDATE OF lease_id ON agents FOR EACH ROW
    EXECUTE FUNCTION torture.note_lease();
  CREATE TRIGGER torture_insert AFTER INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION torture.note();
  CREATE TRIGGER torture_update AFTER UPDATE ON tasks FOR EACH ROW
    WHEN (OLD.state <> NEW.state OR OLD.fence <> NEW.fence) EXECUTE FUNCTION torture.note();
`;

/** Begins to note changes; before the first task. */
export function watch(url: string): Promise<void> {
  return withClient(url, async (client) => {
    const { rows } = await client.query(`SELECT to_regclass('torture.transitions') IS NOT NULL AS there`);
    if (rows[0].there !== true) await client.query(`BEGIN; ${WATCH} COMMIT`);
  });
}

/** Takes the ledger's own guard of terminal states away, to see whether others notice. */
export function dropGuard(url: string): Promise<void> {
  return withClient(url, async (client) => {
    await client.query('DROP TRIGGER IF EXISTS tasks_terminal ON tasks');
  });
}

/** How many tasks have not ended. */
export function openTasks(url: string, namespace: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ open: number }>(
      `SELECT count(*)::int AS open FROM tasks
        WHERE namespace = $1 AND state IN ('scheduled', 'queued', 'offered', 'running')`,
      [namespace],
    );
    return rows[0]?.open ?? 0;
  });
}

export interface Rows {
  tasks: TaskRow[];
  deliveries: DeliveryRow[];
  attributions: AttributionRow[];
  transitions: Transition[];
  keys: KeyRow[];
  leases: LeaseRow[];
}

/** Every row of a namespace; times in ms of the machine's monotonic clock. */
export function collect(url: string, namespace: string): Promise<Rows> {
  return withClient(url, async (client) => {
    const offset = await clockOffsetMs(client);
    const rows = async <T extends pg.QueryResultRow>(sql: string, ...params: unknown[]): Promise<T[]> =>
      (await client.query<T>(sql, [namespace, ...params])).rows;
    return {
      tasks: await rows<TaskRow>(
        `SELECT id, (payload->>'n')::int AS n, state, fence, attempt, max_attempts, idempotent, capability, result
           FROM tasks WHERE namespace = $1`,
      ),
      deliveries: await rows<DeliveryRow>(
        'SELECT task_id, fence, attempt, agent_id, outcome, code FROM deliveries WHERE namespace = $1',
      ),
      attributions: await rows<AttributionRow>(
        'SELECT task_id, fence, final, code FROM attributions WHERE namespace = $1',
      ),
      transitions: await rows<Transition>(
        `SELECT extract(epoch FROM at)::float8 * 1000 - $2 AS at, task_id, was, state, fence, agent_id
           FROM torture.transitions WHERE namespace = $1 ORDER BY id`,
        offset,
      ),
      leases: await rows<LeaseRow>(
        `SELECT extract(epoch FROM at)::float8 * 1000 - $2 AS at, agent_id
           FROM torture.leases WHERE namespace = $1 ORDER BY id`,
        offset,
      ),
      keys: await rows<KeyRow>('SELECT key, task_id FROM idempotency_keys WHERE namespace = $1'),
    };
  });
}

/** What the database's clock is ahead of the monotonic one; of some tries the one that took least time. */
async function clockOffsetMs(client: pg.Client): Promise<number> {
  let best = { took: Infinity, offset: 0 };
  for (let i = 0; i < 10; i++) {
    const before = nowMs();
    const { rows } = await client.query<{ ms: number }>(
      'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
    );
    const after = nowMs();
    if (after - before < best.took)
      best = { took: after - before, offset: (rows[0]?.ms ?? 0) - (before + after) / 2 };
  }
  return best.offset;
}
