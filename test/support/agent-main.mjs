// An agent as a process of its own, to be killed and frozen. It takes its orders from payloads and tells what
// it does, one JSON line each, on standard output.
import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from '@agent-reach/sdk';

const tell = (event, more = {}) => process.stdout.write(`${JSON.stringify({ event, ...more })}\n`);

const agent = new Agent({
  ...JSON.parse(process.argv[2]),
  capabilities: {
    work: async (task, ctx) => {
      tell('begin', { task_id: task.taskId, delivery_id: task.deliveryId, attempt: task.attempt });
      const { work_ms = 0, block_ms = 0, hold = false } = task.payload ?? {};
      // A handler that does not let go of the event loop.
      for (const until = performance.now() + block_ms; performance.now() < until;);
      if (hold) await pause(600_000, undefined, { signal: ctx.signal });
      else if (work_ms > 0) await pause(work_ms);
      tell('end', { task_id: task.taskId, attempt: task.attempt });
      return { by: process.pid };
    },
  },
});
for (const event of ['registered', 'lease_lost', 'superseded', 'stopped', 'dropped', 'disconnected', 'drain'])
  agent.on(event, (details) => tell(event, details));
await agent.run();
