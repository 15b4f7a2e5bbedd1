import { setTimeout as pause } from 'node:timers/promises';
import { Agent, AgentRefused, TaskFailed, type IncomingTask } from '@agent-reach/sdk';
import { Ledger } from '../ledger.js';
import { randomOf } from '../plan/random.js';
import { fateOf, type Payload } from '../plan/work.js';
import { onOrder, ordersOf, tell } from './role.js';
import { WireFaults } from './wire-faults.js';

/** Some agents of the SDK in one process: they live and die together. */
export interface AgentsOrders {
  ledger: string;
  seed: number;
  namespace: string;
  heartbeatIntervalMs: number;
  leaseTtlMs: number;
  agents: AgentSpec[];
}

export interface AgentSpec {
  agentId: string;
  urls: string[];
  transport: 'session' | 'pull';
  maxConcurrency: number;
  capabilities: string[];
}

const orders = ordersOf<AgentsOrders>();
const ledger = new Ledger(orders.ledger);
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Does what the task's payload says, and writes down when it begins and how it ends. */
async function work(agentId: string, task: IncomingTask<Payload>): Promise<unknown> {
  const { deliveryId, taskId, payload, attempt } = task;
  ledger.write({ event: 'begin', agent: agentId, task: taskId, delivery: deliveryId, attempt });
  const fate = fateOf(payload, attempt);
  if (fate === 'kills') process.kill(process.pid, 'SIGKILL');
  if (payload.work_ms > 0) await pause(payload.work_ms);
  // Names this very execution: only one of them may be what the ledger keeps.
  const token = `${deliveryId}@${process.pid}`;
  ledger.write({ event: 'end', agent: agentId, task: taskId, delivery: deliveryId, fate, token });
  switch (fate) {
    case 'kills':
    case 'kills_at_the_end':
      process.kill(process.pid, 'SIGKILL');
      return undefined;
    case 'well':
      return { n: payload.n, token };
    case 'throws':
      throw new Error(`task ${payload.n} throws at attempt ${attempt}`);
    case 'refuses':
      throw new AgentRefused(`task ${payload.n} is refused at attempt ${attempt}`);
    case 'fails_for_good':
      throw new TaskFailed({ code: 'AGENT_ERROR', message: 'for good', retryable: false });
  }
}

function newAgent(spec: AgentSpec): Agent {
  const { agentId, urls, transport, maxConcurrency } = spec;
  const agent = new Agent({
    url: urls,
    namespace: orders.namespace,
    agentId,
    transport,
    maxConcurrency,
    heartbeatIntervalMs: orders.heartbeatIntervalMs,
    leaseTtlMs: orders.leaseTtlMs,
    logger: quiet,
    capabilities: Object.fromEntries(
      spec.capabilities.map((c) => [c, (task: IncomingTask<Payload>) => work(agentId, task)]),
    ),
  });
  agent.on('registered', ({ leaseId }) =>
    ledger.write({ event: 'registered', agent: agentId, lease: leaseId }),
  );
  agent.on('lease_lost', ({ code }) => ledger.write({ event: 'lease_lost', agent: agentId, code }));
  agent.on('dropped', ({ deliveryId, code }) =>
    ledger.write({ event: 'dropped', agent: agentId, delivery: deliveryId, code }),
  );
  agent.on('stopped', ({ reason }) => ledger.write({ event: 'stopped', agent: agentId, reason }));
  agent.on('error', ({ error }) => ledger.write({ event: 'error', agent: agentId, error: String(error) }));
  return agent;
}

const wire = new WireFaults(randomOf(orders.seed, orders.ledger));
const agents = orders.agents.map(newAgent);
ledger.write({ event: 'process', pid: process.pid, agents: orders.agents.map((a) => a.agentId) });
const leave = async (): Promise<void> => {
  await Promise.all(agents.map((agent) => agent.stop({ drainMs: 10_000 })));
  ledger.close();
  process.exit(0);
};
process.on('SIGTERM', () => void leave());
onOrder((order) => {
  if (order === 'noisy' || order === 'silent') wire.noisy = order === 'noisy';
});
await Promise.all(agents.map((agent) => agent.start()));
tell('ready');
