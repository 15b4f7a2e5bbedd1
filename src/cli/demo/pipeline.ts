import type { Client, TaskDetail, TaskRequest } from '@agent-reach/sdk';

/** What a document goes through. */
export const STEPS = ['fetch', 'summarize', 'keywords', 'translate'] as const;
export type Step = (typeof STEPS)[number] | 'report';

export interface PipelineTask {
  step: Step;
  document: string;
  task: TaskDetail;
}

interface Summarized {
  name: string;
  summary: string;
  keywords: string[];
}

/** Each try may need a retry or two, and the agent that holds it a lease to run out. */
const WAIT_MS = 50_000;

/**
 * The orchestrator of the demo. It knows who calls whom, which is nobody else's business: fetch each document,
 * then summarize it, find its key phrases and translate its summary, then write one report of all.
 */
export class Pipeline {
  readonly ended: PipelineTask[] = [];
  readonly submitted = new Map<string, { step: Step; document: string }>();
  private readonly done = new Map<Step, number>();

  constructor(private readonly client: Client) {}

  /** How many tasks of a step have ended. */
  doneOf(step: Step): number {
    return this.done.get(step) ?? 0;
  }

  /** Takes documents through; a document whose step failed is left out. */
  async documents(names: readonly string[]): Promise<Summarized[]> {
    const results = await Promise.all(names.map((name) => this.document(name)));
    return results.filter((r) => r !== undefined);
  }

  /** The report over all documents, or undefined when it failed. */
  async report(documents: readonly Summarized[]): Promise<string | undefined> {
    const payload = { title: 'What the documents say', documents };
    const outputs = await this.step('report', 'all documents', { capability: 'report.compose', payload });
    return (outputs as { report: string } | undefined)?.report;
  }

  private async document(name: string): Promise<Summarized | undefined> {
    const fetched = await this.step('fetch', name, { capability: 'document.fetch', payload: { name } });
    if (fetched === undefined) return undefined;
    const { text } = fetched as { text: string };
    const [summary, keywords] = await Promise.all([
      this.summary(name, text),
      this.step('keywords', name, { capability: 'document.keywords', payload: { text } }),
    ]);
    if (summary === undefined || keywords === undefined) return undefined;
    const phrases = (keywords as { keywords: { phrase: string }[] }).keywords.map((k) => k.phrase);
    return { name, summary, keywords: phrases };
  }

  private async summary(name: string, text: string): Promise<string | undefined> {
    const outputs = await this.step('summarize', name, {
      capability: 'document.summarize',
      payload: { text },
    });
    if (outputs === undefined) return undefined;
    const { summary } = outputs as { summary: string };
    await this.step('translate', name, { capability: 'document.translate', payload: { text: summary } });
    return summary;
  }

  private async step(step: Step, document: string, task: TaskRequest): Promise<unknown> {
    // All steps only read, so each may be done again after an agent was lost in the middle.
    const accepted = await this.client.enqueue({ ...task, idempotent: true });
    this.submitted.set(accepted.task_id, { step, document });
    const ended = await this.client.wait(accepted.task_id, { timeoutMs: WAIT_MS });
    this.ended.push({ step, document, task: ended });
    this.done.set(step, this.doneOf(step) + 1);
    return ended.state === 'succeeded' ? ended.result : undefined;
  }
}
