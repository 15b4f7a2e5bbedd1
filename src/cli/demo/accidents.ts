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
/** A machine may be busy. */
const LOOK_FOR_MS = 60_000;
/** A report that was under way when its agent was frozen has arrived by then. */
const UNDER_WAY_MS = 200;

/** Kills a summarizer in the middle of a task. @returns the task it held */
export async function killInMidTask(
  client: Client,
  stage: Stage,
  pipeline: Pipeline,
  journal: Journal,
): Promise<string> {
  const until = performance.now() + LOOK_FOR_MS;
  while (performance.now() < until) {
    const task = await frozenInMidTask(client, stage);
    if (task !== undefined) {
      await stage.killAgent(VICTIM);
      const document = pipeline.submitted.get(task.task_id)?.document ?? 'a document';
      journal.accident(`kill -9 ${VICTIM} in the middle of "${document}"`);
      return task.task_id;
    }
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`${VICTIM} never had a task to be killed in`);
}

/**
 * A task that the victim is in the middle of; it is frozen then, so that it stays there. Where a task can end between
 * a look and the kill, a slow machine would find none to kill it in.
 */
async function frozenInMidTask(client: Client, stage: Stage): Promise<Task | undefined> {
  const running = () => client.page({ state: 'running', agent_id: VICTIM }, { limit: 10 });
  if ((await running()).items.length === 0) return undefined;
  stage.freezeAgent(VICTIM, true);
  await sleep(UNDER_WAY_MS);
  const [task] = (await running()).items;
  if (task === undefined) stage.freezeAgent(VICTIM, false);
  return task;
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
