export type MigrationClass = new () => object;

interface MigrationsModule {
  readonly MIGRATIONS: readonly MigrationClass[];
  readonly PARTITIONED_TABLES: readonly string[];
}

/**
 * Loads `migrations/index`. It lies outside of src, so its place differs: beside `platform` in a build
 * (dist/migrations), one above src in the sources (jest).
 */
export async function loadMigrations(): Promise<MigrationsModule> {
  const path = import.meta.url.endsWith('.ts') ? '../../../migrations/index.js' : '../../migrations/index.js';
  return (await import(path)) as MigrationsModule;
}
