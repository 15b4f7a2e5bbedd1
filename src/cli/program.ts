import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addAgentCommands } from './commands/agents.js';
import { addAliasCommands } from './commands/alias.js';
import { addAttributionCommand } from './commands/attributions.js';
import { addCapabilityCommands } from './commands/capabilities.js';
import { addCompletionCommand } from './commands/completion.js';
import { addDemoCommand } from './commands/demo.js';
import { addManifestCommand } from './commands/manifest.js';
import { addPolicyCommands } from './commands/policy.js';
import { addScheduleCommands } from './commands/schedule.js';
import { addServerCommands } from './commands/server.js';
import { addSimulateCommand } from './commands/simulate.js';
import { addSubmitCommand } from './commands/submit.js';
import { addTaskCommands } from './commands/tasks.js';
import { addTortureCommand } from './commands/torture.js';
import { addWhyCommand } from './commands/why.js';
import { addGlobalOptions } from './context.js';

/** All commands of `reach`. It throws CommanderError instead of ending the process. */
export function createProgram(): Command {
  const program = new Command('reach')
    .description('Dispatches tasks to agents that can reach what they need, and says why when one fails.')
    .version(version(), '-V, --version')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(add --help for how to call it)')
    .exitOverride();
  addGlobalOptions(program);
  addServerCommands(program);
  addDemoCommand(program);
  addSubmitCommand(program);
  addTaskCommands(program);
  addWhyCommand(program);
  addAgentCommands(program);
  addCapabilityCommands(program);
  addAliasCommands(program);
  addPolicyCommands(program);
  addScheduleCommands(program);
  addSimulateCommand(program);
  addAttributionCommand(program);
  addManifestCommand(program);
  addTortureCommand(program);
  addCompletionCommand(program);
  return program;
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
