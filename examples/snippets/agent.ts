import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from '@agent-reach/sdk';

/* An agent in a few lines: node dist/examples/snippets/agent.js <agent id> */

const agent = new Agent({
  agentId: process.argv[2] ?? 'writer-1',
  name: 'writer',
  maxConcurrency: 2,
  // A heartbeat a second and a lease of three: a killed process is noticed within three seconds.
  heartbeatIntervalMs: 1000,
  leaseTtlMs: 3000,
  capabilities: {
    'text.shout': async (task, ctx) => {
      const { text, seconds = 0 } = task.payload as { text: string; seconds?: number };
      for (let s = 1; s <= seconds; s++) {
        await pause(1000, undefined, { signal: ctx.signal });
        await ctx.progress({ note: `second ${s} of ${seconds}` });
      }
      return { shout: text.toUpperCase() };
    },
  },
});

console.log(`${agent.agentId} works; Ctrl-C lets it finish and leave`);
await agent.run();
