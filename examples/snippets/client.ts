import { Client, ReachTaskError } from '@agent-reach/sdk';

/* The caller's side: node dist/examples/snippets/client.js */

const reach = new Client({ url: process.env['REACH_URL'] ?? 'http://127.0.0.1:8080' });

// Stored when this resolves; the same key and body always name the same task.
const { task_id } = await reach.enqueue(
  { capability: 'text.shout', payload: { text: 'hello' }, idempotent: true },
  { idempotencyKey: 'greeting-2026-11-29' },
);
const task = await reach.wait(task_id, { timeoutMs: 60_000 });
console.log(task.state, task.agent_id, task.result);

// Enqueue, wait and take the result in one call; how it went wrong is in the error.
try {
  const { shout } = await reach.run<{ shout: string }>({
    capability: 'text.shout@^2',
    payload: { text: 'nobody offers version 2' },
    expires_in_ms: 1000,
  });
  console.log(shout);
} catch (error) {
  if (!(error instanceof ReachTaskError)) throw error;
  console.log(error.state, error.code);
  console.log((await reach.explain(error.taskId)).headline);
}
