import { loadConfig } from '../config/config.js';
import { startEmbeddedPostgres } from '../embedded/embedded-postgres.js';
import { nestLog } from '../embedded/log.js';
import { loadMigrations } from './migrations-list.js';
import { migrate } from './migrator.js';

/**
 * Brings the configured database up to date and ends: the embedded one is started for it and stopped again.
 * Returns the names of the migrations that ran.
 */
export async function migrateConfigured(config = loadConfig()): Promise<string[]> {
  const log = nestLog('Migrate');
  const { MIGRATIONS } = await loadMigrations();
  const engine =
    config.databaseUrl === undefined
      ? await startEmbeddedPostgres({ dataDir: config.dataDir, logger: log })
      : null;
  try {
    const url = config.databaseUrl ?? engine?.url ?? '';
    return await migrate({ url, migrations: MIGRATIONS, logger: log });
  } finally {
    await engine?.stop();
  }
}
