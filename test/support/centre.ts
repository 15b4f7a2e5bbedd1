import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { Api } from './api.js';
import { Dispatcher } from './dispatcher.js';
import { createTestDatabase, newDataDir } from './postgres.js';
import { RedisServer } from './redis-server.js';
import { describeWithRedisServer } from './redis.js';

/** What every centre of a test is set to: short pauses, frequent sweeps. */
const QUICK: Readonly<Record<string, string>> = {
  REACH_SWEEP_INTERVAL_MS: '200',
  REACH_RECONCILE_INTERVAL_MS: '1000',
  REACH_RETRY_BASE_MS: '50',
  REACH_REDISPATCH_JITTER_MS: '50',
  REACH_LOG_FORMAT: 'json',
};

/** The two ways to run: one process with everything in it, or two that share a Redis and a Postgres. */
export const MODES = ['embedded', 'distributed'] as const;
export type Mode = (typeof MODES)[number];

/** The same cases in both modes; the distributed ones where there is a `redis-server`. */
export function inBothModes(name: string, cases: (mode: Mode) => void): void {
  describe(`${name}, embedded`, () => cases('embedded'));
  describeWithRedisServer(`${name}, distributed`, () => cases('distributed'));
}

export interface CentreOptions {
  /** Settings beside the quick ones. */
  env?: Record<string, string>;
  /** How many dispatchers, in distributed mode; 2 unless set. */
  dispatchers?: number;
  /** Zones of the dispatchers, in their order. */
  zones?: readonly string[];
  /** A Postgres of the caller's. */
  databaseUrl?: string;
}

/** A whole centre in one of the modes, of real processes over real sockets. */
export class Centre {
  private readonly cleanUps: (() => Promise<unknown>)[] = [];
  readonly dispatchers: Dispatcher[] = [];
  /** The Redis of a distributed centre. */
  redis: RedisServer | undefined;

  private constructor(readonly mode: Mode) {}

  /** Starts what the mode needs and waits until every dispatcher listens. */
  static async start(mode: Mode, options: CentreOptions = {}): Promise<Centre> {
    const centre = new Centre(mode);
    await centre.launch(options);
    return centre;
  }

  /**
   * A centre for the cases of the `describe` that this is called in: it starts before the first, and ends after the
   * last. It can be used from then on, in the cases and in hooks that are added later.
   */
  static ofSuite(mode: Mode, options: CentreOptions = {}): Centre {
    const centre = new Centre(mode);
    beforeAll(() => centre.launch(options));
    afterAll(() => centre.stop());
    return centre;
  }

  private async launch(options: CentreOptions): Promise<void> {
    try {
      if (this.mode === 'embedded') await this.startEmbedded(options);
      else await this.startDistributed(options);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  private async startEmbedded(options: CentreOptions): Promise<void> {
    const dataDir = await newDataDir();
    this.cleanUps.push(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
    const { databaseUrl } = options;
    const ledger = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl };
    await this.add({ ...QUICK, REACH_DATA_DIR: dataDir, ...ledger, ...options.env });
  }

  private async startDistributed(options: CentreOptions): Promise<void> {
    const redis = await RedisServer.start();
    this.redis = redis;
    this.cleanUps.push(() => redis.stop());
    let databaseUrl = options.databaseUrl;
    if (databaseUrl === undefined) {
      const database = await createTestDatabase();
      this.cleanUps.push(() => database.drop());
      databaseUrl = database.url;
    }
    const dataDir = await mkdtemp(join(tmpdir(), 'reach-centre-'));
    this.cleanUps.push(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
    const env = {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redis.url,
      REACH_DATA_DIR: dataDir,
      REACH_OUTBOUND_LOOPBACK: 'allow',
    };
    await Promise.all(
      Array.from({ length: options.dispatchers ?? 2 }, (_, i) =>
        this.add({
          ...QUICK,
          ...env,
          REACH_REPLICA_ID: `dispatcher-${i}`,
          REACH_ZONE: options.zones?.[i] ?? '',
          ...options.env,
        }),
      ),
    );
  }

  private async add(env: Record<string, string>): Promise<void> {
    const dispatcher = new Dispatcher(env);
    this.dispatchers.push(dispatcher);
    await dispatcher.start();
  }

  /** The dispatchers' addresses. */
  get urls(): string[] {
    return this.dispatchers.map((d) => d.url);
  }

  /** Dispatcher number `i`, counted around: in embedded mode all numbers are the one there is. */
  dispatcher(i: number): Dispatcher {
    return this.dispatchers[i % this.dispatchers.length] as Dispatcher;
  }

  /**
   * Calls in a namespace of their own, so that cases of one centre do not see each other. They go to the
   * dispatchers in turn: nothing may depend on which one is asked.
   */
  api(namespace = `ns-${randomBytes(5).toString('hex')}`): Api {
    return new Api(() => this.urls, namespace);
  }

  /** Ends everything and removes it. */
  async stop(): Promise<void> {
    await Promise.all(this.dispatchers.map((d) => d.terminate()));
    for (const cleanUp of this.cleanUps.splice(0).reverse()) await cleanUp();
  }

  /** The logs of all, for messages. */
  tail(): string {
    return this.dispatchers.map((d, i) => `--- dispatcher ${i}\n${d.tail()}`).join('\n');
  }
}
