import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { judgeAgent, mayChange, type AgentFacts } from '../../src/core/agent-state.js';
import { observe, UNKNOWN, type Verdict } from '../../src/core/verdict.js';
import type { Config } from '../../src/platform/config/config.js';
import { newId } from '../../src/platform/ids.js';
import { judgedFacts, type StoredFacts } from '../../src/registry/agent-facts.js';
import { AgentJudge } from '../../src/registry/agent-judge.js';
import type { AgentRow } from '../../src/registry/agent-row.js';
import { registerBody } from '../../src/registry/agents.wire.js';
import type { ReachSync } from '../../src/registry/reach-sync.js';
import { RegistryEvents, type Transition } from '../../src/registry/registry.events.js';
import { RegistryStore, type LeaseRef } from '../../src/registry/registry.store.js';
import { Transitions } from '../../src/registry/transitions.js';
import { createTestDatabase, openSql, type TestDatabase, type TestSql } from '../support/postgres.js';

/* Facts, judged and written by statements on a real Postgres. */

const config = { warmUpProbes: 50 } as Config;
const verdict = (results: string, seq = 0): Verdict =>
  [...results].reduce(
    (v, letter, i) =>
      observe(v, { ok: letter === 'S', seq: seq + i, atMs: 1, fault: 'refused' }, { down: 3, up: 2 }),
    UNKNOWN,
  );
const GOOD = verdict('S');
const SUSPECT = verdict('F', 10);
const BAD = verdict('FFF', 20);

describe('the judge of agents', () => {
  let database: TestDatabase;
  let opened: TestSql;
  let store: RegistryStore;
  let events: RegistryEvents;
  let spread: AgentRow[];
  let told: Transition[];

  beforeAll(async () => {
    Logger.overrideLogger(false);
    database = await createTestDatabase({ migrated: true });
    opened = await openSql(database.url);
    store = new RegistryStore(opened.sql);
  });
  afterAll(async () => {
    await opened?.close();
    await database?.drop();
  });
  beforeEach(() => {
    spread = [];
    told = [];
    events = new RegistryEvents();
    events.on('transition', (t) => told.push(t));
  });

  /** The judge of one replica. */
  function replica(): AgentJudge {
    const sync = { spread: (rows: AgentRow[]) => spread.push(...rows) } as unknown as ReachSync;
    return new AgentJudge(config, store, new Transitions(sync, events));
  }

  async function register(agentId: string, over: object = {}, facts: StoredFacts = {}) {
    const dependencies = [
      { name: 'db', type: 'postgres', target: 'postgres://db', critical: true },
      { name: 'mail', type: 'tcp', target: 'mail:25' },
    ];
    const body = registerBody.parse({ agent_id: agentId, capabilities: ['work'], dependencies, ...over });
    const row = await store.register(body, { id: newId(), ttlMs: 50_000, intervalMs: 15_000 }, facts);
    if (row === undefined) throw new Error(`${agentId} was not registered`);
    return { ref: { namespace: 'default', agentId, leaseId: row.lease_id } satisfies LeaseRef, row };
  }

  const historyOf = async (agentId: string) =>
    (await store.history('default', agentId, 100))
      .filter((t) => t.kind === 'transition')
      .reverse()
      .map((t) => t.to_state);

  test('what strangers say is written without its control characters, whoever reports it', async () => {
    const { ref } = await register('hostile');
    const words = 'no\u0000\u001b[31m\r\nway \ud800';
    const bad = { ...BAD, fault: words, detail: words };
    const evidence = { probe: { detail: words, tried: [words, 3, null] } };
    const row = await replica().report(ref, { dependencies: { db: bad } }, evidence);
    const plain = 'no\uFFFD\uFFFD[31m way \uFFFD';
    expect(row?.state_reason).toBe(`critical dependency db (${plain}) is down`);
    expect(row?.facts.dependencies?.['db']).toMatchObject({ fault: plain, detail: plain });
    const [latest] = await store.history('default', 'hostile', 1);
    expect(latest?.evidence).toEqual({ probe: { detail: plain, tried: [plain, 3, null] } });
  });

  test('what is observed decides the state, and is told once, with the evidence', async () => {
    const { ref } = await register('a1');
    const judge = replica();
    expect(await judge.report(ref, { dependencies: { db: GOOD } })).toMatchObject({ state: 'online' });
    expect(spread).toEqual([]);
    const row = await judge.report(ref, { dependencies: { db: SUSPECT } }, { probe: 'db', latency_ms: 3 });
    expect(row).toMatchObject({
      state: 'suspicious',
      state_reason: 'critical dependency db (refused) failed, being confirmed',
      facts: { dependencies: { db: SUSPECT } },
    });
    await judge.report(ref, { dependencies: { db: BAD } });
    expect(spread.map((r) => r.state)).toEqual(['suspicious', 'degraded']);
    expect(told.map((t) => [t.from, t.to, t.evidence])).toEqual([
      ['online', 'suspicious', { probe: 'db', latency_ms: 3 }],
      ['suspicious', 'degraded', {}],
    ]);
    const [latest, before] = await store.history('default', 'a1', 10);
    expect(before).toMatchObject({ evidence: { probe: 'db', latency_ms: 3 } });
    expect(latest?.facts).toMatchObject({
      echo: 'unknown',
      dependencies: [{ name: 'db', standing: 'bad' }, {}],
    });
  });

  test('counts are kept without telling anybody', async () => {
    const { ref, row } = await register('counts');
    const judge = replica();
    const first = await judge.report(ref, { echo: GOOD });
    const next = await judge.report(ref, { echo: verdict('SSS') });
    expect(next?.facts.echo?.successes).toBe(3);
    expect([first?.rev, next?.rev]).toEqual([row.rev, row.rev]);
    expect(spread).toEqual([]);
  });

  test('a stale lease changes nothing', async () => {
    const old = await register('twice');
    const now = await register('twice');
    expect(await replica().report(old.ref, { echo: BAD })).toBeUndefined();
    expect(await store.find('default', 'twice')).toMatchObject({
      lease_id: now.ref.leaseId,
      state: 'online',
    });
    expect(told).toEqual([]);
  });

  test('nothing that is observed brings a leaving agent back', async () => {
    const { ref } = await register('leaving');
    await store.beginRemoval('default', 'leaving', null, 1000, 'so');
    expect(await replica().report(ref, { heartbeat: 'fresh', echo: GOOD })).toMatchObject({
      state: 'removing',
      state_reason: 'so',
    });
  });

  test('the word of a former owner of a probe is passed over, the end of probing is not', async () => {
    const { ref } = await register('owners');
    const judge = replica();
    await judge.report(ref, { echo: BAD });
    expect(await judge.report(ref, { echo: verdict('S', 1) })).toMatchObject({ state: 'suspicious' });
    expect(await judge.report(ref, { echo: UNKNOWN })).toMatchObject({ state: 'online' });
  });

  test('verdicts on what is not declared are dropped', async () => {
    const { ref } = await register('strange');
    const row = await replica().report(ref, { dependencies: { db: GOOD, nothing: BAD } });
    expect(Object.keys(row?.facts.dependencies ?? {})).toEqual(['db']);
  });

  test('parallel reports, heartbeats, operators and sweeps lose nothing of each other', async () => {
    const names = Array.from({ length: 24 }, (_, i) => `dep${i}`);
    const dependencies = names.map((name) => ({ name, type: 'tcp', target: `${name}:1` }));
    const { ref } = await register('busy', { dependencies });
    const judges = [replica(), replica(), replica()];
    const rounds = 8;
    const beats: Promise<unknown>[] = [];
    await Promise.all([
      ...names.map(async (name, i) => {
        for (let round = 0; round < rounds; round++) {
          await judges[i % 3]?.report(ref, { dependencies: { [name]: verdict('S'.repeat(round + 1)) } });
          beats.push(store.heartbeat({ ...ref, capacity: JSON.stringify({ queued: round }) }));
        }
      }),
      store.hold('default', 'busy', 'new disk', 'an operator'),
      judges[0]?.report(ref, { echo: GOOD }),
      judges[1]?.report(ref, { session: 'broken' }),
      judges[2]?.report(ref, { warmUp: { good: 7, totalMs: 14, passed: false } }),
    ]);
    await Promise.all(beats);
    const row = await store.find('default', 'busy');
    for (const name of names) expect(row?.facts.dependencies?.[name]?.successes).toBe(rounds);
    expect(row?.facts).toMatchObject({ session: 'broken', echo: GOOD, warmUp: { good: 7 } });
    expect(row).toMatchObject({ state: 'suspicious', capacity: { queued: rounds - 1 } });
    expect(row).toMatchObject({ hold_reason: 'new disk' });
    expect(await historyOf('busy')).toEqual(['online', 'suspicious']);
  });

  test('a dependency that hundreds share is judged for all of them', async () => {
    const agents = await Promise.all(Array.from({ length: 300 }, (_, i) => register(`many${i}`)));
    const judge = replica();
    const rows = await Promise.all(agents.map(({ ref }) => judge.report(ref, { dependencies: { db: BAD } })));
    expect(new Set(rows.map((row) => row?.state))).toEqual(new Set(['degraded']));
    expect(rows.map((row) => row?.agent_id)).toEqual(agents.map(({ ref }) => ref.agentId));
    expect(told).toHaveLength(300);
  });

  test('a new registration keeps what is known of dependencies that stayed the same', async () => {
    const { ref } = await register('again');
    await replica().report(ref, { echo: BAD, dependencies: { db: BAD, mail: GOOD } });
    const kept = await register('again', {
      dependencies: [
        { name: 'db', type: 'postgres', target: 'postgres://db', critical: false },
        { name: 'mail', type: 'tcp', target: 'elsewhere:25' },
      ],
    });
    expect(kept.row.facts.dependencies).toEqual({ db: BAD });
    expect(kept.row.facts.echo).toBeUndefined();
    expect(await replica().report(kept.ref, {})).toMatchObject({
      state: 'degraded',
      state_reason: 'optional dependency db (refused) is down',
    });
  });

  describe('the sweeps judge as the table does', () => {
    const heartbeats: AgentFacts['heartbeat'][] = ['fresh', 'missed'];
    const sessions: AgentFacts['session'][] = ['open', 'broken', 'none'];
    const echoes = [undefined, GOOD, SUSPECT, BAD];
    const all = heartbeats.flatMap((heartbeat) =>
      sessions.flatMap((session) => echoes.map((echo) => ({ heartbeat, session, echo }))),
    );

    async function prepared(prefix: string) {
      await opened.sql.run('clean', 'DELETE FROM agents');
      for (const [i, { echo, ...facts }] of all.entries()) {
        const { ref } = await register(`${prefix}${i}`);
        await replica().report(ref, { ...facts, ...(echo !== undefined && { echo }) });
      }
    }

    async function expectJudged(prefix: string, over: Partial<AgentFacts>) {
      for (const [i, given] of all.entries()) {
        const row = await store.find('default', `${prefix}${i}`);
        if (row === undefined) throw new Error('gone');
        const want = judgeAgent({ ...judgedFacts(row), ...over });
        expect({ given, state: row.state, reason: row.state_reason }).toEqual({ given, ...want });
      }
    }

    test('overdue heartbeats', async () => {
      await prepared('overdue');
      await opened.sql.run('old', `UPDATE agents SET last_heartbeat_at = now() - interval '30 s'`);
      await store.suspectSilent(1e9, 1.5);
      await expectJudged('overdue', { heartbeat: 'missed' });
      expect(await store.suspectSilent(1e9, 1.5)).toEqual([]);
    });

    test('ended leases', async () => {
      await prepared('ended');
      await opened.sql.run(
        'lapse',
        `UPDATE agents SET last_heartbeat_at = now() - interval '60 s', lease_expires_at = now() - interval '9 s'`,
      );
      await store.suspectSilent(1e9, 1.5);
      await store.expireLeases(1e9);
      await expectJudged('ended', { heartbeat: 'dead', lease: 'ended' });
    });

    test('no lease ends that is longer than we have been able to hear', async () => {
      await register('unheard');
      await opened.sql.run(
        'lapse unheard',
        `UPDATE agents SET lease_expires_at = now() - interval '1 h' WHERE agent_id = 'unheard'`,
      );
      expect(await store.expireLeases(49_999)).toEqual([]);
      expect(await store.expireLeases(50_000)).toMatchObject([{ agent_id: 'unheard', state: 'offline' }]);
    });

    test('and an echo holds off the end for one more lease, no longer', async () => {
      const { ref } = await register('echoing');
      await replica().report(ref, { echo: GOOD });
      const lapse = (ms: number) =>
        opened.sql.run(
          'lapse by',
          `UPDATE agents SET lease_expires_at = now() - $1::int * interval '1 ms' WHERE agent_id = 'echoing'`,
          [ms],
        );
      await lapse(49_000);
      expect(await store.expireLeases(1e9)).toEqual([]);
      await lapse(50_001);
      expect(await store.expireLeases(1e9)).toMatchObject([{ state: 'offline', from_state: 'online' }]);
    });
  });

  test('the database refuses what the table does not know', async () => {
    await register('refused');
    const set = (state: string) =>
      opened.sql.run('set state', `UPDATE agents SET state = $1 WHERE agent_id = 'refused'`, [state]);
    await set('offline');
    await expect(set('online')).rejects.toThrow('may not go from offline to online');
    await expect(set('suspicious')).rejects.toThrow('may not go from offline to suspicious');
    expect((await register('refused')).row.state).toBe('online');
  });

  test('whatever happens in whatever order, the history is a way through the table, and the state is what the facts say', async () => {
    let names = 0;
    let seq = 0;
    const results = fc.stringMatching(/^[SF]{1,4}$/);
    const observed = fc.record(
      {
        session: fc.constantFrom('open' as const, 'broken' as const, 'none' as const),
        echo: results,
        db: results,
        mail: results,
      },
      { requiredKeys: [] },
    );
    const happening = fc.oneof(
      { weight: 6, arbitrary: observed },
      fc.constantFrom(
        'heartbeat',
        'silence',
        'lease over',
        'lease long over',
        'leaves',
        'is gone',
        'registers',
      ),
    );
    const age = (agentId: string, heartbeat: string, lease: string) =>
      opened.sql.run(
        'age',
        `UPDATE agents SET last_heartbeat_at = now() - $2::interval, lease_expires_at = now() - $3::interval
          WHERE agent_id = $1`,
        [agentId, heartbeat, lease],
      );

    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 1, maxLength: 25 }), async (happenings) => {
        const id = `any${names++}`;
        const judge = replica();
        let { ref } = await register(id);
        const found = (of: string | undefined) => of && verdict(of, (seq += 10));
        for (const what of happenings) {
          if (typeof what === 'object') {
            const [echo, db, mail] = [found(what.echo), found(what.db), found(what.mail)];
            await judge.report(ref, {
              ...(what.session && { session: what.session }),
              ...(echo && { echo }),
              dependencies: { ...(db && { db }), ...(mail && { mail }) },
            });
          } else if (what === 'heartbeat') {
            if ((await store.heartbeat({ ...ref, capacity: null })) !== undefined)
              await judge.report(ref, { heartbeat: 'fresh' });
          } else if (what === 'silence') {
            await age(id, '30 s', '-20 s');
            await store.suspectSilent(1e9, 1.5);
          } else if (what === 'registers') {
            ({ ref } = await register(id));
            // What is known of its dependencies goes on.
            await judge.report(ref, {});
          } else if (what === 'leaves') await store.beginRemoval('default', id, null, 1000, 'deregistered');
          else if (what === 'is gone') await store.finishRemoval('default', id);
          else {
            await age(id, '120 s', what === 'lease over' ? '9 s' : '100 s');
            await store.expireLeases(1e9);
          }
          const row = await store.find('default', id);
          if (row === undefined) throw new Error('gone');
          if (row.state !== 'removing' && row.state !== 'offline')
            expect(judgeAgent(judgedFacts(row)).state).toBe(row.state);
        }
        const history = (await store.history('default', id, 1000)).reverse();
        let before: (typeof history)[number] | undefined;
        for (const change of history) {
          expect(change.from_state).toBe(before?.to_state ?? null);
          if (change.reason !== 'registered' && change.from_state !== null)
            expect([change.from_state, mayChange(change.from_state, change.to_state)]).toEqual([
              change.from_state,
              true,
            ]);
          before = change;
        }
        expect((await store.find('default', id))?.state).toBe(before?.to_state);
      }),
      { numRuns: 40 },
    );
  });
});
