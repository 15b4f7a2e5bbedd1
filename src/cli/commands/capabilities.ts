import type { Capability } from '@agent-reach/sdk';
import type { Command } from 'commander';
import { contextOf } from '../context.js';
import type { Output } from '../output/output.js';
import { printable } from '../output/text.js';

/** `capabilities`, `pause` and `resume`. */
export function addCapabilityCommands(program: Command): void {
  program
    .command('capabilities')
    .description('list what the agents offer')
    .action(async (_options: object, command: Command) => {
      const { client, out } = contextOf(command);
      const capabilities = await client.capabilities();
      if (out.json) return out.document(capabilities);
      out.table(
        ['CAPABILITY', 'AGENTS', 'REACHABLE', 'PAUSED'],
        capabilities.map((c) => [
          printable(c.capability),
          String(c.agents),
          out.paint(c.reachable > 0 ? 'green' : 'red', String(c.reachable)),
          c.paused ? printable(`yes: ${c.pause_reason || 'no reason given'}`) : '',
        ]),
        'no capabilities: no agent is registered',
      );
    });
  program
    .command('pause')
    .argument('<capability>')
    .description('stop giving out tasks of a capability; they are accepted and wait')
    .option('-r, --reason <text>', 'why, for those who ask', '')
    .action(async (capability: string, options: { reason: string }, command: Command) => {
      const { client, out } = contextOf(command);
      printSwitch(out, await client.pauseCapability(capability, options.reason));
    });
  program
    .command('resume')
    .argument('<capability>')
    .description('give out its tasks again')
    .action(async (capability: string, _options: object, command: Command) => {
      const { client, out } = contextOf(command);
      printSwitch(out, await client.resumeCapability(capability));
    });
}

function printSwitch(out: Output, capability: Capability): void {
  if (out.json) return out.document(capability);
  const { paused, pause_reason: reason } = capability;
  const state = !paused ? 'resumed' : reason ? `paused: ${reason}` : 'paused';
  out.line(printable(`${capability.capability} is ${state}`));
}
