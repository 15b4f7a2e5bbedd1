import type { Command } from 'commander';
import { describeConfig, loadConfig } from '../../platform/config/config.js';
import { Output } from '../output/output.js';
import { printable } from '../output/text.js';

/** `serve`, `migrate` and `config`: they read the environment and need no running centre. */
export function addServerCommands(program: Command): void {
  program
    .command('serve')
    .description('run the centre; it is configured by environment variables (see "reach config")')
    .action(async () => {
      // Loaded only here: the other commands start faster without the server's code.
      await import('../../main.js');
    });
  program
    .command('migrate')
    .description('bring the database up to date (serve does it by itself)')
    .action(async (_options, command: Command) => {
      const out = new Output(command.optsWithGlobals<{ json: boolean }>().json);
      const { migrateConfigured } = await import('../../platform/postgres/migrate.js');
      const migrations = await migrateConfigured();
      if (out.json) return out.document({ migrations });
      for (const migration of migrations) out.line(`ran ${migration}`);
      if (migrations.length === 0) out.line('the database is up to date');
    });
  program
    .command('config')
    .description('print every setting with its value and where it comes from; secrets are masked')
    .option('--changed', 'only those that are set', false)
    .action((options: { changed: boolean }, command: Command) => {
      const out = new Output(command.optsWithGlobals<{ json: boolean }>().json);
      const entries = describeConfig(loadConfig()).filter((e) => !options.changed || e.source !== 'default');
      if (out.json) return out.document(entries);
      out.table(
        ['VARIABLE', 'VALUE', 'SOURCE', 'MEANING'],
        entries.map((e) => [e.env, printable(e.value), e.source, e.description]),
        'every setting has its default',
      );
    });
}
