import { newId } from '../../src/platform/ids.js';
import { registerBody } from '../../src/registry/agents.wire.js';
import { RegistryStore } from '../../src/registry/registry.store.js';
import { createTestDatabase, openSql, type TestDatabase, type TestSql } from '../support/postgres.js';

/* What the registry's statements promise, where a server around them would hide it. */

describe('the registry store', () => {
  let database: TestDatabase;
  let opened: TestSql;
  let store: RegistryStore;

  beforeAll(async () => {
    database = await createTestDatabase({ migrated: true });
    opened = await openSql(database.url);
    store = new RegistryStore(opened.sql);
  });
  afterAll(async () => {
    await opened?.close();
    await database?.drop();
  });

  /** Registers an agent under a new lease. */
  async function register(agentId: string) {
    const body = registerBody.parse({ agent_id: agentId, capabilities: ['work'] });
    return store.register(body, { id: newId(), ttlMs: 50_000, intervalMs: 15_000 });
  }

  /** Lets the lease of an agent run out. */
  async function endLease(agentId: string) {
    await opened.sql.run(
      'lapse',
      `UPDATE agents SET lease_expires_at = now() - interval '1 ms' WHERE agent_id = $1`,
      [agentId],
    );
    const ended = await store.expireLeases(1e9);
    expect(ended.map((row) => row.agent_id)).toEqual([agentId]);
  }

  test('each registration names the live lease that it ended', async () => {
    const first = await register('a1');
    expect(first.superseded_lease_id).toBeNull();
    const second = await register('a1');
    expect(second.superseded_lease_id).toBe(first.lease_id);
    await endLease('a1');
    expect((await register('a1')).superseded_lease_id).toBeNull();
    const history = await store.history('default', 'a1', 10);
    expect(history.map((h) => h.from_state)).toEqual(['offline', 'online', 'online', null]);
  });

  test('agents that are gone for good are purged, and only those', async () => {
    const days = { online: 99, offline_lately: 1, offline_long: 31, removed_lately: 1, removed_long: 31 };
    for (const [agentId, age] of Object.entries(days)) {
      const { lease_id: leaseId } = await register(agentId);
      if (agentId.startsWith('offline')) await endLease(agentId);
      if (agentId.startsWith('removed')) {
        await store.beginRemoval('default', agentId, leaseId, 0, 'so');
        await store.finishRemoval('default', agentId);
      }
      await opened.sql.run(
        'age',
        `UPDATE agents SET state_since = now() - $2::int * interval '1 day',
           removed_at = CASE WHEN removed_at IS NOT NULL THEN now() - $2::int * interval '1 day' END
         WHERE agent_id = $1`,
        [agentId, age],
      );
    }
    expect(await store.purge(30)).toBe(2);
    for (const agentId of Object.keys(days))
      expect((await store.find('default', agentId)) === undefined).toBe(agentId.endsWith('long'));
  });
});
