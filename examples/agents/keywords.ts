import { type IncomingTask } from '@agent-reach/sdk';
import { keywordsOf } from '../lib/keywords.js';
import { runAgent } from '../lib/run-agent.js';

/* Finds the key phrases of a text. */

const DEFAULT_COUNT = 6;

function keywords(task: IncomingTask<{ text: string; count?: number }>): unknown {
  return { keywords: keywordsOf(task.payload.text, task.payload.count ?? DEFAULT_COUNT) };
}

await runAgent(new URL('./keywords.yaml', import.meta.url), { 'document.keywords': keywords });
