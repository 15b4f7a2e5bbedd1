import { Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Config, CONFIG } from '../config/config.js';
import { nestLog } from '../embedded/log.js';
import { Readiness } from '../health/readiness.js';
import { Shutdown } from '../lifecycle/shutdown.js';
import { pgPoolOf } from './data-source.js';
import { PostgresRuntime } from './postgres-runtime.js';
import { Sql } from './sql.js';

/** Injection token: connection string of the database in use (the embedded one, or DATABASE_URL). */
export const DATABASE_URL = Symbol('DATABASE_URL');

/** The ledger's database: running, migrated, and closed in order at shutdown. */
@Global()
@Module({
  providers: [
    { provide: PostgresRuntime, inject: [CONFIG, Readiness, Shutdown], useFactory: startRuntime },
    {
      provide: DataSource,
      inject: [PostgresRuntime],
      useFactory: (runtime: PostgresRuntime) => runtime.dataSource,
    },
    { provide: Sql, inject: [DataSource], useFactory: (source: DataSource) => new Sql(pgPoolOf(source)) },
    {
      provide: DATABASE_URL,
      inject: [PostgresRuntime],
      useFactory: (runtime: PostgresRuntime) => runtime.url,
    },
  ],
  exports: [DataSource, Sql, DATABASE_URL],
})
export class PostgresModule {}

async function startRuntime(
  config: Config,
  readiness: Readiness,
  shutdown: Shutdown,
): Promise<PostgresRuntime> {
  // The way a signal takes: readiness fails, work is handed back, and the supervisor starts us anew.
  const endProcess = (): void => void process.kill(process.pid, 'SIGTERM');
  const runtime = await PostgresRuntime.start(config, nestLog('Postgres'), endProcess);
  readiness.add('postgres', async () => {
    await runtime.dataSource.query('SELECT 1');
  });
  shutdown.on('pools', 'postgres', () => runtime.closePools());
  shutdown.on('engines', 'embedded postgres', () => runtime.stopEngine());
  return runtime;
}
