import type { AgentDetail, AgentState, AgentView } from '@agent-reach/sdk';
import { type Command, Option } from 'commander';
import { contextOf, take, watchOption, wholeNumber, type CommandContext } from '../context.js';
import type { Output } from '../output/output.js';
import { ago, brief, printable } from '../output/text.js';
import { watch } from '../output/watch.js';

const STATES = ['online', 'degraded', 'suspicious', 'offline', 'removing'];

interface ListOptions {
  capability?: string;
  name?: string;
  state?: AgentState;
  tag?: string;
  all: boolean;
  limit: number;
  watch?: number;
}

/** `agents` and `drain`. */
export function addAgentCommands(program: Command): void {
  program
    .command('agents')
    .argument('[agent-id]', 'show this one with its history')
    .description('list agents and how they are')
    .option('-c, --capability <name>', 'only those that offer it')
    .option('--name <name>', 'only instances of this agent')
    .addOption(new Option('-s, --state <state>', 'only in this state').choices(STATES))
    .option('--tag <tag>', 'only with this tag')
    .option('--all', 'removed ones too', false)
    .option('-l, --limit <n>', 'how many at most', wholeNumber(1, 100_000), 500)
    .addOption(watchOption())
    .action(showAgents);
  program
    .command('drain')
    .argument('<agent-id>')
    .description('take an agent out of service: it finishes what runs and gets nothing new')
    .option('--drain-ms <ms>', 'how long running work may go on', wholeNumber(0, 3_600_000))
    .action(async (agentId: string, options: { drainMs?: number }, command: Command) => {
      const { client, out } = contextOf(command);
      const answer = await client.drain(agentId, options.drainMs);
      if (out.json) return out.document(answer);
      out.line(
        `${printable(answer.agent_id)} is ${out.state(answer.state)}; what runs may go on until ${answer.drain_until}`,
      );
    });
}

function showAgents(agentId: string | undefined, options: ListOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  return watch(context.out, options.watch, () =>
    agentId === undefined ? printAgents(context, options) : printOne(context, agentId),
  );
}

async function printOne({ client, out }: CommandContext, agentId: string): Promise<void> {
  const agent = await client.agent(agentId);
  if (out.json) out.document(agent);
  else printAgent(out, agent);
}

async function printAgents({ client, out }: CommandContext, options: ListOptions): Promise<void> {
  const { capability, name, state, tag, all } = options;
  const agents = await take(
    client.agents({ capability, name, state, tag, include_removed: all || undefined }),
    options.limit,
  );
  if (out.json) return out.document(agents);
  out.table(
    ['AGENT', 'NAME', 'STATE', 'BUSY', 'CAPABILITIES', 'BY', 'HEARTBEAT', 'REASON'],
    agents.map((agent) => [
      printable(agent.agent_id),
      printable(agent.name),
      out.state(agent.state),
      `${agent.in_flight}/${agent.max_concurrency}`,
      printable(capabilitiesOf(agent)),
      agent.transport,
      ago(agent.last_heartbeat_at),
      printable(agent.state_reason),
    ]),
    'no agents; start one with the SDK, or see "reach demo"',
  );
}

function printAgent(out: Output, agent: AgentDetail): void {
  out.facts({
    agent: printable(agent.agent_id),
    name: printable(agent.name),
    state: `${out.state(agent.state)} since ${agent.state_since} (${printable(agent.state_reason)})`,
    capabilities: printable(capabilitiesOf(agent)),
    dependencies: agent.dependencies.map((d) => brief(d, 200)).join('\n') || undefined,
    transport:
      agent.endpoint === undefined ? agent.transport : `${agent.transport} to ${printable(agent.endpoint)}`,
    busy: `${agent.in_flight} of ${agent.max_concurrency}`,
    capacity: agent.capacity === null ? undefined : brief(agent.capacity, 300),
    heartbeat: `${ago(agent.last_heartbeat_at)}, every ${agent.heartbeat_interval_ms} ms; lease until ${agent.lease_expires_at}`,
    tags: agent.tags.length === 0 ? undefined : printable(agent.tags.join(', ')),
    metadata: Object.keys(agent.metadata).length === 0 ? undefined : brief(agent.metadata, 500),
    registered: agent.registered_at,
    removed: agent.removed_at,
  });
  out.line();
  out.table(
    ['AT', 'FROM', 'TO', 'REASON'],
    agent.history.map((t) => [t.at, t.from_state ?? '', out.state(t.to_state), printable(t.reason)]),
    'no history',
  );
}

function capabilitiesOf(agent: AgentView): string {
  return agent.capabilities
    .map((c) => (c.version === undefined ? c.name : `${c.name}@${c.version}`))
    .join(', ');
}
