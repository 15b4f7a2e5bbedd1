import type { Client, ItemProblem, TaskAccepted, TaskRequest } from '@agent-reach/sdk';
import type { ProgressBar } from '../output/progress-bar.js';

export interface Submitted {
  accepted: TaskAccepted[];
  /** `record` counts from 1. */
  rejected: { record: number; problem: ItemProblem }[];
}

type Pending = { record: number; task: TaskRequest };

const BATCH = 500;
/** A record that is refused for now (a full queue) is sent again so often. */
const MAX_ROUNDS = 10;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** Enqueues a stream of tasks in batches; what is refused for the moment is tried again a few times. */
export async function sendBatches(
  client: Pick<Client, 'enqueueBatch'>,
  tasks: AsyncIterable<TaskRequest>,
  bar: Pick<ProgressBar, 'add' | 'grow'>,
): Promise<Submitted> {
  const submitted: Submitted = { accepted: [], rejected: [] };
  let batch: Pending[] = [];
  let record = 0;
  const flush = async () => {
    if (batch.length > 0) await sendBatch(client, batch, submitted, bar);
    batch = [];
  };
  for await (const task of tasks) {
    batch.push({ record: ++record, task });
    bar.grow(1);
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return submitted;
}

async function sendBatch(
  client: Pick<Client, 'enqueueBatch'>,
  batch: readonly Pending[],
  submitted: Submitted,
  bar: Pick<ProgressBar, 'add'>,
): Promise<void> {
  let pending = batch;
  for (let round = 1; pending.length > 0; round++) {
    const again: Pending[] = [];
    const { results } = await client.enqueueBatch(pending.map((p) => p.task));
    pending.forEach((item, i) => {
      const result = results[i];
      if (result === undefined) return;
      if (!('error' in result)) submitted.accepted.push(result);
      else if (result.error.retryable && round < MAX_ROUNDS) return void again.push(item);
      else submitted.rejected.push({ record: item.record, problem: result.error });
      bar.add(1);
    });
    pending = again;
    if (pending.length > 0) await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (round - 1)));
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
