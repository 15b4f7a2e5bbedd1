import { loadManifest } from '@agent-reach/sdk';
import type { Command } from 'commander';
import { Output } from '../output/output.js';
import { printable } from '../output/text.js';

/** `manifest`: checks an agent's manifest and says what it declares. */
export function addManifestCommand(program: Command): void {
  program
    .command('manifest')
    .argument('<file>', 'an agent.yaml')
    .description('check the manifest of an agent; every mistake is named by its line')
    .action((file: string, _options: object, command: Command) => {
      const out = new Output(command.optsWithGlobals<{ json: boolean }>().json);
      const manifest = loadManifest(file);
      if (out.json) return out.document(manifest);
      out.facts({
        agent: printable(manifest.agentId),
        name: printable(manifest.name ?? manifest.agentId),
        capabilities: printable(manifest.capabilities.map((c) => c.name).join(', ')),
        dependencies: manifest.dependencies?.map((d) => printable(`${d.name} (${d.type})`)).join(', '),
        transport: manifest.transport ?? 'session',
      });
    });
}
