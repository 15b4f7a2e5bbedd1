import { ReachTaskError, TaskFailed, type IncomingTask, type TaskContext } from '@agent-reach/sdk';
import { runAgent } from '../lib/run-agent.js';

/* Writes one report from many summaries. For the opening it asks the summarizer, by a task of its own. */

interface Payload {
  title: string;
  documents: { name: string; summary: string; keywords: string[] }[];
}

async function compose(task: IncomingTask<Payload>, ctx: TaskContext): Promise<unknown> {
  const { title, documents } = task.payload;
  const opening = await overall(documents.map((d) => d.summary).join('\n\n'), ctx);
  const parts = documents.map(
    (d) => `## ${d.name}\n\n${d.summary}\n\nKey phrases: ${d.keywords.join(', ')}.`,
  );
  ctx.meta['documents'] = documents.length;
  return { report: [`# ${title}`, opening, ...parts].join('\n\n') };
}

async function overall(text: string, ctx: TaskContext): Promise<string> {
  try {
    const answer = await ctx.run<{ summary: string }>({
      capability: 'document.summarize',
      payload: { text, sentences: 4 },
      idempotent: true,
    });
    return answer.summary;
  } catch (error) {
    if (!(error instanceof ReachTaskError)) throw error;
    const message = `the summarizer did not help: ${error.message}`;
    throw new TaskFailed({
      code: 'DEPENDENCY_DOWN',
      dependency: 'summarizer',
      message,
      raw: { code: error.code },
    });
  }
}

await runAgent(new URL('./reporter.yaml', import.meta.url), { 'report.compose': compose });
