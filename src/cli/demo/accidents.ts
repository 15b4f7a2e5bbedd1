import type { AgentState, Client, Task } from '@agent-reach/sdk';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Journal } from './journal.js';
import type { Pipeline } from './pipeline.js';
import type { Stage } from './stage.js';

/** The summarizer that is killed. */
export const VICTIM = 'summarizer-1';
/** The agent that needs the document service. */
const NEEDY = 'fetcher-1';
const LOOK_EVERY_MS = 50;
const LOOK_FOR_MS = 20_000;
/** Begun so shortly ago that it is surely still in the middle. */
const YOUNG_MS = 700;

/** Kills a summarizer in the middle of a task. @returns the task it held */
export async function killInMidTask(
  client: Client,
  stage: Stage,
  pipeline: Pipeline,
  journal: Journal,
): Promise<string> {
  const until = performance.now() + LOOK_FOR_MS;
  while (performance.now() < until) {
    const task = await taskJustBegun(client);
    if (task) {
      await stage.killAgent(VICTIM);
      const document = pipeline.submitted.get(task.task_id)?.document ?? 'a document';
      journal.accident(`kill -9 ${VICTIM} in the middle of "${document}"`);
      return task.task_id;
    }
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`${VICTIM} never had a task to be killed in`);
}

async function taskJustBegun(client: Client): Promise<Task | undefined> {
  const { items } = await client.page({ state: 'running', agent_id: VICTIM }, { limit: 10 });
  for (const task of items) {
    const { deliveries } = await client.get(task.task_id);
    const begun = deliveries.at(-1)?.acked_at;
    if (begun !== undefined && Date.now() - Date.parse(begun) < YOUNG_MS) return task;
  }
  return undefined;
}

/** Takes the document service away and brings it back. */
export async function takeServiceAway(stage: Stage, journal: Journal): Promise<void> {
  await stage.stopService();
  journal.accident('the document service is gone');
}

/** Brings it back once the prober has found out that it is away. @throws Error when it never does */
export async function bringServiceBack(client: Client, stage: Stage, journal: Journal): Promise<void> {
  await untilFound(client, 'degraded', journal);
  await stage.startService();
  journal.say('repaired', 'the document service is back');
  await untilFound(client, 'online', journal);
}

/** Waits until the prober has found the agent that needs the service to be in a state, and says why it is. */
async function untilFound(client: Client, state: AgentState, journal: Journal): Promise<void> {
  const until = performance.now() + LOOK_FOR_MS;
  while (performance.now() < until) {
    const agent = await client.agent(NEEDY);
    if (agent.state === state) return journal.say('prober', `${NEEDY} is ${state}: ${agent.state_reason}`);
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`the prober never found ${NEEDY} to be ${state}`);
}
