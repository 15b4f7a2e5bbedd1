/** Agents of the SDK in one process, to be killed, stopped, or left alone. */
import { Agent } from '@agent-reach/sdk';
import { options, serveRole } from './role.mjs';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const agents = options.ids.map(
  (agentId) =>
    new Agent({
      url: options.url,
      agentId,
      logger: silent,
      capabilities: { work: () => null },
      heartbeatIntervalMs: 15_000,
      ...(options.dependencies && { dependencies: options.dependencies }),
    }),
);

serveRole({ start: () => Promise.all(agents.map((agent) => agent.start())).then(() => undefined) });
