import { readFile } from 'node:fs/promises';
import type { EffectivePolicy, PolicySettings } from '@agent-reach/sdk';
import type { Command } from 'commander';
import { contextOf, take, wholeNumber } from '../context.js';
import { printable } from '../output/text.js';
import { UsageError } from '../usage-error.js';

const CAPABILITY = 'a capability, or "*" for every one of the namespace';

/** `policy list`, `get`, `set` and `remove`. */
export function addPolicyCommands(program: Command): void {
  const policy = program.command('policy').description('how agents are chosen for a capability');
  policy
    .command('list')
    .description('list the policies of the namespace')
    .option('-l, --limit <n>', 'how many at most', wholeNumber(1, 100_000), 500)
    .action(async (options: { limit: number }, command: Command) => {
      const { client, out } = contextOf(command);
      const policies = await take(out, client.policies(), options.limit);
      if (out.json) return out.document(policies);
      out.table(
        ['CAPABILITY', 'VERSION', 'CHANGED', 'BY', 'SETTINGS'],
        policies.map((p) => [
          printable(p.capability),
          String(p.version),
          p.changed_at,
          printable(p.changed_by),
          printable(JSON.stringify(p.settings)),
        ]),
        'no policies: the defaults hold; "reach policy get CAPABILITY" shows them',
      );
    });
  policy
    .command('get')
    .argument('<capability>', CAPABILITY)
    .description('show what holds for a capability')
    .action(async (capability: string, _options: object, command: Command) => {
      const { client, out } = contextOf(command);
      const found = await client.policy(capability);
      if (out.json) return out.document(found);
      out.line(printable(`${capability}: ${sourceOf(found)}`));
      for (const [name, value] of Object.entries(found.settings))
        out.line(
          printable(`  ${name.padEnd(21)} ${typeof value === 'string' ? value : JSON.stringify(value)}`),
        );
    });
  policy
    .command('set')
    .argument('<capability>', CAPABILITY)
    .argument('<settings>', 'JSON, or @FILE with JSON: {"strategy":"best","score":{"preset":"dispatch"}}')
    .option('--if-version <n>', 'only where this version holds (0: none yet)', wholeNumber(0, 2 ** 31 - 1))
    .description('replace the policy of a capability; it holds from the next choice on')
    .action(async (capability: string, text: string, options: { ifVersion?: number }, command: Command) => {
      const { client, out } = contextOf(command);
      const written = await client.setPolicy(capability, await settingsOf(text), options.ifVersion);
      if (out.json) return out.document(written);
      out.line(printable(`${capability} has version ${written.version} of its policy`));
    });
  policy
    .command('remove')
    .argument('<capability>', CAPABILITY)
    .description('remove the policy of a capability: that of the namespace holds again')
    .action(async (capability: string, _options: object, command: Command) => {
      const { client, out } = contextOf(command);
      const written = await client.removePolicy(capability);
      if (out.json) return out.document(written);
      out.line(printable(`${capability} has no policy of its own any more`));
    });
}

function sourceOf({ version, namespace_version: ofNamespace }: EffectivePolicy): string {
  const parts = [
    ...(version > 0 ? [`version ${version} of its own policy`] : []),
    ...(ofNamespace > 0 ? [`version ${ofNamespace} of that of the namespace`] : []),
    'the defaults',
  ];
  return parts.join(', over ');
}

/** What it means is for the centre to judge. @throws UsageError */
async function settingsOf(text: string): Promise<PolicySettings> {
  try {
    const json = text.startsWith('@') ? await readFile(text.slice(1), 'utf8') : text;
    return JSON.parse(json) as PolicySettings;
  } catch (error) {
    throw new UsageError(`the settings cannot be read: ${(error as Error).message}`);
  }
}
