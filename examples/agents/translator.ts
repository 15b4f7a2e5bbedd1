import { type IncomingTask, type TaskContext } from '@agent-reach/sdk';
import { DICTIONARY_SIZE, translateWords } from '../lib/dictionary.js';
import { runAgent } from '../lib/run-agent.js';

/* Replaces words by a small dictionary, and says that this is all it does. */

function translate(task: IncomingTask<{ text: string }>, ctx: TaskContext): unknown {
  const { text, known } = translateWords(task.payload.text);
  ctx.meta['method'] = 'word dictionary';
  ctx.meta['dictionary_words'] = DICTIONARY_SIZE;
  ctx.meta['note'] =
    'words are replaced one by one, without grammar or context; this is not a real translation';
  return { language: 'de', text, known_words: known };
}

await runAgent(new URL('./translator.yaml', import.meta.url), { 'document.translate': translate });
