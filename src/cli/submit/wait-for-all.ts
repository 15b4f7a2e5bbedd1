import type { Client, TaskDetail } from '@agent-reach/sdk';
import type { ProgressBar } from '../output/progress-bar.js';

/** Long polls at a time: enough to keep up, few enough to leave the centre's connections to others. */
const PARALLEL = 16;

/** Waits until all tasks have ended. @throws ReachTimeoutError when `timeoutMs` is over before */
export async function waitForAll(
  client: Pick<Client, 'wait'>,
  taskIds: readonly string[],
  timeoutMs: number,
  bar: Pick<ProgressBar, 'add' | 'grow'>,
): Promise<TaskDetail[]> {
  const until = performance.now() + timeoutMs;
  const ended: TaskDetail[] = new Array<TaskDetail>(taskIds.length);
  bar.grow(taskIds.length);
  let next = 0;
  const work = async () => {
    for (let i = next++; i < taskIds.length; i = next++) {
      ended[i] = await client.wait(taskIds[i] ?? '', { timeoutMs: Math.max(1, until - performance.now()) });
      bar.add(1);
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, taskIds.length) }, work));
  return ended;
}
