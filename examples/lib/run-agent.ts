import { fileURLToPath } from 'node:url';
import { Agent, type AgentOptions, type Handler } from '@agent-reach/sdk';

/**
 * Runs an agent from its manifest until a signal ends it. Where the centre is comes from `REACH_URL`; an
 * instance that is not the only one gets its id from `REACH_AGENT_ID`.
 * @param options what goes before the manifest
 */
export async function runAgent(
  manifest: URL,
  handlers: Record<string, Handler>,
  options: Partial<AgentOptions> = {},
): Promise<void> {
  const agentId = process.env['REACH_AGENT_ID'];
  const own = agentId === undefined ? options : { ...options, agentId };
  const agent = Agent.fromManifest(fileURLToPath(manifest), handlers, own);
  agent.on('registered', ({ leaseId }) => console.log(`${agent.agentId} registered, lease ${leaseId}`));
  agent.on('disconnected', ({ reason }) => console.log(`${agent.agentId} lost the centre: ${reason}`));
  const reason = await agent.run({ drainMs: 5000 });
  console.log(`${agent.agentId} ${reason}`);
}
