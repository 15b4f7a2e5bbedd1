import { createServer } from 'node:http';
import { Agent, TaskFailed } from '@agent-reach/sdk';

/* An agent that is an HTTP service already: the centre pushes, nothing polls. */

const port = Number(process.argv[2] ?? 9100);
const agent = new Agent({
  agentId: `clock-${port}`,
  name: 'clock',
  transport: 'push',
  endpoint: `http://127.0.0.1:${port}/deliveries`,
  dependencies: [{ name: 'time-zones', type: 'http', critical: true, timeout_ms: 2000 }],
  capabilities: {
    'clock.now': (task) => {
      const { zone = 'UTC' } = (task.payload ?? {}) as { zone?: string };
      try {
        return { now: new Date().toLocaleString('en', { timeZone: zone }) };
      } catch (error) {
        // Who is to blame and whether another try may help; both decide what becomes of the task.
        const message = `there is no zone ${zone}`;
        throw new TaskFailed({ code: 'CONTRACT_MISMATCH', message, retryable: false, raw: String(error) });
      }
    },
  },
});

const receive = agent.pushHandler();
const server = createServer((request, response) => {
  if (request.url === '/deliveries') return receive(request, response);
  response.writeHead(404).end();
});
server.listen(port, '127.0.0.1');
await agent.run();
server.close();
