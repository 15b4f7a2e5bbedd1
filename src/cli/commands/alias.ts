import type { CapabilityAlias } from '@agent-reach/sdk';
import type { Command } from 'commander';
import { contextOf } from '../context.js';
import { printable } from '../output/text.js';

/** `alias list`, `set` and `remove`. */
export function addAliasCommands(program: Command): void {
  const alias = program.command('alias').description('other names of capabilities');
  alias
    .command('list')
    .description('list the aliases of the namespace')
    .action(async (_options: object, command: Command) => {
      const { client, out } = contextOf(command);
      const aliases: CapabilityAlias[] = [];
      for await (const one of client.aliases.list()) aliases.push(one);
      if (out.json) return out.document(aliases);
      out.table(
        ['ALIAS', 'CAPABILITY', 'CHANGED', 'BY'],
        aliases.map((a) => [
          printable(a.alias),
          printable(a.capability),
          a.changed_at,
          printable(a.changed_by),
        ]),
        'no aliases',
      );
    });
  alias
    .command('set')
    .argument('<alias>')
    .argument('<capability>', 'what it stands for')
    .description('take a name as another one, of tasks and of agents')
    .action(async (name: string, capability: string, _options: object, command: Command) => {
      const { client, out } = contextOf(command);
      const written = await client.aliases.set(name, capability);
      if (out.json) return out.document(written);
      out.line(printable(`${name} stands for ${capability}`));
    });
  alias
    .command('remove')
    .argument('<alias>')
    .description('forget an alias')
    .action(async (name: string, _options: object, command: Command) => {
      const { client, out } = contextOf(command);
      const removed = await client.aliases.remove(name);
      if (out.json) return out.document(removed);
      out.line(printable(`the alias ${name} is removed`));
    });
}
