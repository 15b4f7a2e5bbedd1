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

  /** Registers an agent under a new lease, of which the id may be given. */
  async function tryRegister(agentId: string, more: { lease_id?: string; replaces_lease_id?: string } = {}) {
    const body = registerBody.parse({ agent_id: agentId, capabilities: ['work'], ...more });
    return store.register(body, { id: more.lease_id ?? newId(), ttlMs: 50_000, intervalMs: 15_000 });
  }

  async function register(agentId: string, more?: Parameters<typeof tryRegister>[1]) {
    const row = await tryRegister(agentId, more);
    if (row === undefined) throw new Error(`${agentId} was not registered`);
    return row;
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

  test('a lease is replaced only while it is the last one, dead or alive', async () => {
    // Nobody there: nobody is displaced.
    const first = await register('a2', { replaces_lease_id: newId() });
    const second = await register('a2', { replaces_lease_id: first.lease_id });
    expect(second.superseded_lease_id).toBe(first.lease_id);
    expect(await tryRegister('a2', { replaces_lease_id: first.lease_id })).toBeUndefined();
    expect(await store.find('default', 'a2')).toMatchObject({ lease_id: second.lease_id, rev: second.rev });
    expect(await store.history('default', 'a2', 10)).toHaveLength(2);
    await endLease('a2');
    expect(await tryRegister('a2', { replaces_lease_id: first.lease_id })).toBeUndefined();
    expect(await register('a2', { replaces_lease_id: second.lease_id })).toMatchObject({ state: 'online' });
  });

  test('a registration asked again is the same one', async () => {
    const first = await register('a3');
    const call = { lease_id: newId(), replaces_lease_id: first.lease_id };
    expect(await register('a3', call)).toMatchObject({ superseded_lease_id: first.lease_id });
    expect(await register('a3', call)).toMatchObject({ lease_id: call.lease_id, superseded_lease_id: null });
    await register('a3');
    expect(await tryRegister('a3', call)).toBeUndefined();
  });

  test('of several that replace one lease at once, one does', async () => {
    const first = await register('a4');
    const replace = () => tryRegister('a4', { replaces_lease_id: first.lease_id });
    const answers = await Promise.all(Array.from({ length: 8 }, replace));
    expect(answers.filter((a) => a !== undefined)).toHaveLength(1);
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
