import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { FAILPOINTS } from '../../src/platform/lifecycle/failpoints.js';
import { type Ledger, nowMs } from './ledger.js';
import { type Fault, type FaultKind, FAULTS } from './plan/schedule.js';
import { withClient } from './system/postgres.js';
import type { RoleProcess } from './system/role-process.js';
import type { System } from './system/system.js';

/** A place that no task comes by in so long is left alone. */
const FAILPOINT_WITHIN_MS = 10_000;
/** Nothing fires in a run: it has no schedules. */
const POINTS = FAILPOINTS.filter((point) => !point.startsWith('fire_'));
const REVIVED_AFTER_MS = 1000;
const HOUR_MS = 3_600_000;
const CUTS = ['there', 'back', 'both'] as const;
const WRONG_CLOCK = join(import.meta.dirname, 'wrong-clock.js');
/** Of the time that passes: far beyond what any quartz does. */
const DRIFTS = [0.1, -0.1, 0.01, -0.01] as const;

/** Does the faults of a schedule to a system, and writes down when each began and when all was well again. */
export class Nemesis {
  private readonly chains = new Map<string, Promise<void>>();
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly redis: Redis | undefined;
  private ending = false;
  /** Numbers of what was not planned. */
  private unplanned = -1;

  constructor(
    private readonly system: System,
    private readonly load: RoleProcess,
    private readonly ledger: Ledger,
  ) {
    system.groups.forEach((group, i) => (group.onDeath = () => this.revive(i)));
    if (system.redis !== undefined) {
      this.redis = new Redis(system.redis.url, { maxRetriesPerRequest: null });
      this.redis.on('error', () => undefined);
    }
  }

  /** Begins; faults happen when their time has come, those to one thing one after the other. */
  begin(schedule: readonly Fault[]): void {
    for (const fault of schedule) this.timers.push(setTimeout(() => this.queue(fault), fault.atMs));
  }

  /** Does nothing new, not even what waits for its turn, and resolves when all that was begun is healed. */
  async end(): Promise<void> {
    this.ending = true;
    for (const timer of this.timers.splice(0)) clearTimeout(timer);
    // One that ends may have asked for a revival, in the same chain.
    let begun: Promise<void>[];
    do await Promise.all((begun = [...this.chains.values()]));
    while ([...this.chains.values()].some((chain) => !begun.includes(chain)));
    this.redis?.disconnect();
  }

  private queue(fault: Fault): void {
    this.inTurn(this.thingsOf(fault), () => (this.ending ? Promise.resolve() : this.do(fault)));
  }

  /** Does something to things once what was begun to any of them is over. */
  private inTurn(things: readonly string[], work: () => Promise<void>): void {
    const before = things.map((thing) => this.chains.get(thing) ?? Promise.resolve());
    const done = Promise.all(before).then(work);
    for (const thing of things) this.chains.set(thing, done);
  }

  private thingsOf({ kind, target }: Fault): string[] {
    if (FAULTS[kind].target !== 'fleet') return [`${FAULTS[kind].target} ${target}`];
    return this.system.groups.map((_, i) => `group ${i}`);
  }

  /** A task killed the agents of a group: they come back after a moment, as under any supervisor. */
  private revive(target: number): void {
    const agents = this.system.agentIds(target);
    const n = this.unplanned--;
    this.ledger.write({ event: 'start', n, kind: 'revive_agents', target, agents });
    this.ledger.write({ event: 'dead', agents });
    this.inTurn([`group ${target}`], async () => {
      await pause(REVIVED_AFTER_MS);
      try {
        if (!this.group(target).running) await this.comesBack(target);
        this.ledger.write({ event: 'stop', n, kind: 'revive_agents', target });
      } catch (error) {
        this.ledger.write({ event: 'not_healed', n, kind: 'revive_agents', target, error: String(error) });
      }
    });
  }

  /**
   * Begins a group anew. The first of its agents are offered work while the last still register: a task that kills them
   * may do so before the group is ready. Then its own revival, which its death has asked for, goes on from there.
   *
   * @throws when it ends in any other way
   */
  private async comesBack(target: number): Promise<void> {
    const group = this.group(target);
    await group.start('ready').catch((error: unknown) => {
      if (!group.killedByItself) throw error;
    });
  }

  private async do(fault: Fault): Promise<void> {
    const { n, kind, target } = fault;
    const agents = FAULTS[kind].target === 'group' ? this.system.agentIds(target) : [];
    this.ledger.write({
      event: 'start',
      n,
      kind,
      target,
      agents,
      for_ms: fault.forMs,
      planned_ms: fault.atMs,
    });
    const began = nowMs();
    try {
      await this.faults[kind](fault);
      this.ledger.write({ event: 'stop', n, kind, target, agents, took_ms: Math.round(nowMs() - began) });
    } catch (error) {
      // A thing that does not come back is a finding, and the run goes on to show what follows from it.
      this.ledger.write({ event: 'not_healed', n, kind, target, error: String(error) });
    }
  }

  private readonly faults: Record<FaultKind, (fault: Fault) => Promise<void>> = {
    kill_dispatcher: async ({ target, forMs }) => {
      const dispatcher = this.dispatcher(target);
      await dispatcher.kill9();
      await pause(forMs);
      await dispatcher.start();
    },
    failpoint_dispatcher: async ({ target, forMs, choice, n }) => {
      const dispatcher = this.dispatcher(target);
      const point = POINTS[choice % POINTS.length] as string;
      const armed = `${point}:${1 + (Math.floor(choice / 97) % 20)}`;
      await dispatcher.kill9();
      // It may come there before it listens; then the start fails, and that is what was wanted.
      await dispatcher.start({ REACH_TEST_HOOKS: '1', REACH_FAILPOINTS: armed }).catch(() => undefined);
      const hit = await dispatcher.dies(FAILPOINT_WITHIN_MS);
      this.ledger.write({ event: 'failpoint', n, armed, hit });
      await dispatcher.kill9();
      await pause(forMs);
      await dispatcher.start();
    },
    freeze_dispatcher: async ({ target, forMs }) => {
      const dispatcher = this.dispatcher(target);
      dispatcher.signal('SIGSTOP');
      await pause(forMs);
      dispatcher.signal('SIGCONT');
    },
    restart_dispatcher: async ({ target }) => {
      const dispatcher = this.dispatcher(target);
      const code = await dispatcher.terminate();
      this.ledger.write({ event: 'exit', target, code });
      await dispatcher.start();
    },
    kill_agents: async ({ target, forMs }) => {
      const group = this.group(target);
      await group.kill9();
      this.ledger.write({ event: 'dead', agents: this.system.agentIds(target) });
      await pause(forMs);
      await this.comesBack(target);
    },
    freeze_agents: async ({ target, forMs }) => {
      const group = this.group(target);
      group.signal('SIGSTOP');
      await pause(forMs);
      group.signal('SIGCONT');
    },
    restart_agents: async ({ target }) => {
      const group = this.group(target);
      await group.stop();
      await this.comesBack(target);
    },
    flushall: async () => void (await this.redis?.flushall()),
    empty_redis: async ({ forMs }) => {
      await this.system.redis?.kill();
      await pause(forMs);
      await this.system.redis?.restartEmpty();
    },
    freeze_redis: async ({ forMs }) => {
      this.system.redis?.pause();
      await pause(forMs);
      this.system.redis?.resume();
    },
    kill_postgres: async () => {
      const before = await this.system.postgres.pid().catch(() => undefined);
      // In embedded mode it may be down already, together with its dispatcher.
      if (before !== undefined) process.kill(before, 'SIGKILL');
      await withClient(this.system.postgres.url, async (client) => {
        await client.query('SELECT 1');
        if ((await this.system.postgres.pid()) === before) throw new Error('the old server answered');
      });
    },
    cut_postgres: async () => {
      await withClient(this.system.postgres.url, (client) =>
        client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`,
        ),
      );
    },
    full_redis: async ({ forMs }) => {
      await this.redis?.config('SET', 'maxmemory', '1');
      await pause(forMs);
      await this.redis?.config('SET', 'maxmemory', '0');
    },
    slow_link: async ({ target, forMs, choice }) => {
      this.link(target).slow(20 + (choice % 300));
      await pause(forMs);
      this.link(target).slow(0);
    },
    cut_link: async ({ target, forMs, choice }) => {
      this.link(target).cut(CUTS[choice % CUTS.length] as (typeof CUTS)[number]);
      await pause(forMs);
      this.link(target).cut('none');
    },
    reset_link: async ({ target }) => this.link(target).reset(),
    half_open_link: async ({ target }) => this.link(target).halfOpen(),
    wrong_clock: ({ target, forMs, choice, n }) =>
      this.livesAs(n, target, forMs, { CLOCK_OFFSET_MS: String(choice % 2 === 0 ? HOUR_MS : -HOUR_MS) }),
    drifting_clock: ({ target, forMs, choice, n }) =>
      this.livesAs(n, target, forMs, { CLOCK_DRIFT: String(DRIFTS[choice % DRIFTS.length]) }),
    small_pool: ({ target, forMs, n }) => this.livesAs(n, target, forMs, { REACH_POSTGRES_POOL_SIZE: '2' }),
    block_loop: async ({ target, forMs }) => {
      this.dispatcher(target).signal('SIGUSR2');
      await pause(forMs);
    },
    redis_failover: async ({ forMs }) => {
      this.system.redis?.save();
      await pause(forMs);
      await this.system.redis?.restartSaved();
    },
    full_disk: async ({ forMs }) => {
      const { disk } = this.system;
      if (disk === undefined) return;
      disk.fill();
      await pause(forMs);
      disk.free();
      await withClient(this.system.postgres.url, (client) => client.query('SELECT 1'));
    },
    cut_agents: async ({ target, forMs, choice }) => {
      const ways = this.system.waysOf(target);
      for (const way of ways) way.cut(CUTS[choice % CUTS.length] as (typeof CUTS)[number]);
      await pause(forMs);
      for (const way of ways) way.cut('none');
    },
    kill_fleet: async ({ forMs, choice }) => {
      const { groups } = this.system;
      const killed = groups
        .map((_, i) => (i + choice) % groups.length)
        .slice(0, Math.ceil(0.6 * groups.length));
      await Promise.all(killed.map((i) => this.group(i).kill9()));
      this.ledger.write({ event: 'dead', agents: killed.flatMap((i) => this.system.agentIds(i)) });
      await pause(forMs);
      await Promise.all(killed.map((i) => this.comesBack(i)));
    },
    noisy_wire: async ({ target, forMs }) => {
      this.group(target).tell('noisy');
      await pause(forMs);
      this.group(target).tell('silent');
    },
    overload: async ({ forMs }) => {
      this.load.tell('faster');
      await pause(forMs);
      this.load.tell('as before');
    },
    revive_agents: async () => undefined,
    lock_tasks: async ({ forMs }) => {
      await withClient(this.system.postgres.url, async (client) => {
        await client.query('BEGIN');
        await client.query('LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE');
        await pause(forMs);
        await client.query('ROLLBACK');
      });
    },
  };

  /** Has a dispatcher live for a while with other settings, or by another clock. */
  private async livesAs(
    n: number,
    target: number,
    forMs: number,
    env: Readonly<Record<string, string>>,
  ): Promise<void> {
    const dispatcher = this.dispatcher(target);
    await dispatcher.terminate();
    await dispatcher.start(env, ['--import', WRONG_CLOCK]);
    this.ledger.write({ event: 'set', n });
    await pause(forMs);
    this.ledger.write({ event: 'unset', n });
    await dispatcher.terminate();
    await dispatcher.start();
  }

  private dispatcher(i: number) {
    return this.system.dispatchers[i % this.system.dispatchers.length] as System['dispatchers'][number];
  }

  private link(i: number) {
    return this.system.links[i % this.system.links.length] as System['links'][number];
  }

  private group(i: number) {
    return this.system.groups[i % this.system.groups.length] as System['groups'][number];
  }
}
