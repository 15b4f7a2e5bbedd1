import { AgentRefused, type IncomingTask, type TaskContext } from '@agent-reach/sdk';
import { pace } from '../lib/pace.js';
import { runAgent } from '../lib/run-agent.js';
import { bestOf, prepare, scoreSentence } from '../lib/summarize.js';

/* An extractive summarizer: scores each sentence and keeps the best. It reports how far it is. */

interface Payload {
  text: string;
  sentences?: number;
}

const DEFAULT_SENTENCES = 3;
const MOST_SENTENCES_READ = 60;
const PACE_MS = Number(process.env['SUMMARIZER_PACE_MS'] ?? 60);
const REPORT_EVERY = 10;

async function summarize(task: IncomingTask<Payload>, ctx: TaskContext): Promise<unknown> {
  const { sentences, weights } = prepare(task.payload.text);
  if (sentences.length === 0) throw new AgentRefused('the text has no sentence');
  const read = sentences.slice(0, MOST_SENTENCES_READ);
  const scored = [];
  for (const [position, sentence] of read.entries()) {
    scored.push(scoreSentence(sentence, position, weights));
    if (position % REPORT_EVERY === REPORT_EVERY - 1)
      await ctx.progress({ note: `read ${position + 1} of ${read.length} sentences` });
    await pace(PACE_MS, ctx.signal);
  }
  ctx.meta['method'] = 'sentence scoring by word frequency';
  ctx.meta['sentences_read'] = read.length;
  return { summary: bestOf(scored, task.payload.sentences ?? DEFAULT_SENTENCES).join(' ') };
}

await runAgent(new URL('./summarizer.yaml', import.meta.url), { 'document.summarize': summarize });
