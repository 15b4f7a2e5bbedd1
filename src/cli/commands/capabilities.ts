import type { Capability, CapabilityDetail } from '@agent-reach/sdk';
import type { Command } from 'commander';
import { contextOf } from '../context.js';
import type { Output } from '../output/output.js';
import { printable } from '../output/text.js';

/** `capabilities`, `pause` and `resume`. */
export function addCapabilityCommands(program: Command): void {
  program
    .command('capabilities')
    .argument('[capability]', 'this one, with its versions and who offers them')
    .description('list what the agents offer')
    .action(async (name: string | undefined, _options: object, command: Command) => {
      const { client, out } = contextOf(command);
      if (name !== undefined) return printOne(out, await client.capability(name));
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

function printOne(out: Output, c: CapabilityDetail): void {
  if (out.json) return out.document(c);
  const paused = c.paused ? `, paused: ${c.pause_reason || 'no reason given'}` : '';
  out.line(printable(`${c.capability}: ${c.agents} agents, ${c.reachable} reachable${paused}`));
  if (c.aliases.length > 0) out.line(printable(`  also called  ${c.aliases.join(', ')}`));
  if (c.equivalents.length > 0) out.line(printable(`  equivalents  ${c.equivalents.join(', ')}`));
  for (const v of c.versions) {
    const schemas = [v.input_schema && 'input', v.output_schema && 'output'].filter(Boolean).join(' and ');
    const which = `  ${(v.version ?? 'no version').padEnd(11)}  ${v.agents.join(', ')}`;
    out.line(printable(schemas === '' ? which : `${which} (${schemas} schema)`));
  }
}

function printSwitch(out: Output, capability: Capability): void {
  if (out.json) return out.document(capability);
  const { paused, pause_reason: reason } = capability;
  const state = !paused ? 'resumed' : reason ? `paused: ${reason}` : 'paused';
  out.line(printable(`${capability.capability} is ${state}`));
}
