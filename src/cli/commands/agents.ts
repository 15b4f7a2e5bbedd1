import type { AgentDetail, AgentState, AgentView } from '@agent-reach/sdk';
import { type Command, Option } from 'commander';
import { contextOf, take, watchOption, wholeNumber, type CommandContext } from '../context.js';
import type { Output } from '../output/output.js';
import { ago, brief, duration, printable } from '../output/text.js';
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

/** `agents` with `hold` and `release`, and `drain`. */
export function addAgentCommands(program: Command): void {
  const agents = program
    .command('agents')
    .argument('[agent-id]', 'show this one, what its state is judged from, and its history')
    .description('list agents and how they are')
    .option('-c, --capability <name>', 'only those that offer it')
    .option('--name <name>', 'only instances of this agent')
    .addOption(new Option('-s, --state <state>', 'only in this state').choices(STATES))
    .option('--tag <tag>', 'only with this tag')
    .option('--all', 'removed ones too', false)
    .option('-l, --limit <n>', 'how many at most', wholeNumber(1, 100_000), 500)
    .addOption(watchOption())
    .action(showAgents);
  addHoldCommands(agents);
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

function addHoldCommands(agents: Command): void {
  agents
    .command('hold')
    .argument('<agent-id>')
    .description('hold an agent out of service for maintenance: it gets nothing new until it is released')
    .option('-r, --reason <text>', 'shown wherever somebody asks why it gets no work', '')
    .action(async (agentId: string, options: { reason: string }, command: Command) => {
      const { client, out } = contextOf(command);
      const agent = await client.hold(agentId, options.reason);
      if (out.json) return out.document(agent);
      out.line(
        `${printable(agent.agent_id)} is held and gets nothing new; it has ${agent.in_flight} to finish. ` +
          `"reach agents release ${printable(agent.agent_id)}" ends that.`,
      );
    });
  agents
    .command('release')
    .argument('<agent-id>')
    .description('end a hold')
    .action(async (agentId: string, _options: object, command: Command) => {
      const { client, out } = contextOf(command);
      const agent = await client.release(agentId);
      if (out.json) return out.document(agent);
      out.line(
        `${printable(agent.agent_id)} is released; it is ${out.state(agent.state)} (${printable(agent.state_reason)})`,
      );
    });
}

/** Why it is as it is, and gets no more work: the hold first, since whoever watches set it. */
function reasonOf(agent: AgentView): string {
  const { held, breaker } = agent;
  const parts = [
    held && `held by an operator${held.reason === '' ? '' : `: ${held.reason}`}`,
    breaker && breakerLine(breaker, agent.max_concurrency),
    agent.state_reason,
  ];
  return parts.filter((part) => part !== undefined).join('; ');
}

function breakerLine({ phase, cause = '', slots }: NonNullable<AgentView['breaker']>, of: number): string {
  if (phase === 'open') return `gets no work: ${cause}`;
  const what = phase === 'half_open' ? 'tried again after failures' : 'coming back from failures';
  return `${what}: it may hold ${slots} of ${of}`;
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
    out,
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
      printable(reasonOf(agent)),
    ]),
    'no agents; start one with the SDK, or see "reach demo"',
  );
}

function printAgent(out: Output, agent: AgentDetail): void {
  out.facts({
    agent: printable(agent.agent_id),
    name: printable(agent.name),
    state: `${out.state(agent.state)} since ${agent.state_since} (${printable(agent.state_reason)})`,
    held:
      agent.held &&
      `since ${agent.held.since}${agent.held.reason === '' ? '' : `: ${printable(agent.held.reason)}`}`,
    breaker:
      agent.breaker &&
      `${printable(breakerLine(agent.breaker, agent.max_concurrency))} (since ${agent.breaker.since})`,
    capabilities: printable(capabilitiesOf(agent)),
    echo: probeLine(agent.facts.echo),
    'warm-up': agent.facts.warm_up && warmUpLine(agent.facts.warm_up),
    probes: windowLine(agent.windows.probes),
    work: windowLine(agent.windows.work),
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
  if (agent.facts.dependencies.length > 0) printDependencies(out, agent);
  out.line();
  out.table(
    ['AT', 'FROM', 'TO', 'REASON'],
    agent.history.map((t) => [t.at, t.from_state ?? '', out.state(t.to_state), printable(happened(t))]),
    'no history',
  );
}

/** What a row of the history tells. */
function happened({ kind, reason, evidence }: AgentDetail['history'][number]): string {
  if (kind === 'transition') return reason;
  const by = typeof evidence['by'] === 'string' ? ` by ${evidence['by']}` : '';
  const why = reason === '' ? '' : `: ${reason}`;
  return kind === 'hold' ? `held${by}${why}` : `released${by}; it had been held${why}`;
}

function printDependencies(out: Output, { facts, dependencies }: AgentDetail): void {
  out.line();
  out.table(
    ['DEPENDENCY', 'TYPE', 'CRITICAL', 'STANDING', 'SINCE', 'FAILED', 'LATENCY', 'TARGET', 'WHY'],
    facts.dependencies.map((d) => [
      printable(d.name),
      d.type,
      d.critical ? 'yes' : 'no',
      d.slow === true ? `${d.standing}, slow` : d.standing,
      d.since === undefined ? '' : ago(d.since),
      d.failures === 0 ? '' : `${d.failures} running`,
      d.latency_ms === undefined ? '' : duration(d.latency_ms),
      brief(dependencies.find((declared) => declared['name'] === d.name)?.['target'] ?? '', 60),
      printable([d.fault, d.detail].filter(Boolean).join(': ')),
    ]),
    '',
  );
}

type ProbeFact = AgentDetail['facts']['echo'];

function probeLine(echo: ProbeFact): string | undefined {
  if (echo.standing === 'unknown') return undefined;
  const parts = [
    echo.standing,
    echo.since && `since ${echo.since}`,
    echo.failures > 0 && `${echo.failures} failures running`,
    echo.latency_ms !== undefined && duration(echo.latency_ms),
    echo.fault,
    echo.detail,
  ];
  return printable(parts.filter(Boolean).join(', '));
}

function warmUpLine(w: NonNullable<AgentDetail['facts']['warm_up']>): string {
  if (w.passed) return w.slow === true ? 'passed, though it stayed slower than its group' : 'passed';
  const mean = w.mean_ms === undefined ? '' : `, ${duration(w.mean_ms)} on average`;
  return `${w.good} of ${w.needed} probes good${mean}; gets work only where no warm agent could`;
}

function windowLine(w: AgentDetail['windows']['work']): string | undefined {
  if (w === undefined) return undefined;
  const latency =
    w.p50_ms === undefined || w.p95_ms === undefined
      ? ''
      : `, P50 ${duration(w.p50_ms)}, P95 ${duration(w.p95_ms)}`;
  const failing = w.consecutive_failures > 0 ? `, ${w.consecutive_failures} failures running` : '';
  return (
    `${(100 * w.success_rate).toFixed(1)} % good of ${w.samples} in 10 min${latency}${failing}, ` +
    `last ${ago(w.last_activity_at)}${w.silent ? ' (silent)' : ''}, score ${w.score.toFixed(2)}`
  );
}

function capabilitiesOf(agent: AgentView): string {
  return agent.capabilities
    .map((c) => (c.version === undefined ? c.name : `${c.name}@${c.version}`))
    .join(', ');
}
