import { isTerminal, type AgentView, type Attribution, type Client, type TaskDetail } from '@agent-reach/sdk';
import { VICTIM } from './accidents.js';
import type { Pipeline } from './pipeline.js';

/** What is known when all is over. */
export interface Evidence {
  tasks: TaskDetail[];
  attributions: Attribution[];
  agents: AgentView[];
  report: string | undefined;
  /** The task that the killed agent held. */
  orphan: string;
}

/** Reads all tasks, failures and agents back from the centre. */
export async function gather(client: Client, report: string | undefined, orphan: string): Promise<Evidence> {
  const tasks: TaskDetail[] = [];
  for (const task of await all(client.list())) tasks.push(await client.get(task.task_id));
  return {
    tasks,
    attributions: await all(client.attributions()),
    agents: await all(client.agents()),
    report,
    orphan,
  };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Which promises were broken; none: all held. */
export function brokenPromises(evidence: Evidence, pipeline: Pipeline): string[] {
  const { tasks, attributions, agents, report, orphan } = evidence;
  const broken: string[] = [];
  const promise = (holds: boolean, text: string) => {
    if (!holds) broken.push(text);
  };
  const known = new Map(tasks.map((task) => [task.task_id, task]));
  for (const [id, { step, document }] of pipeline.submitted) {
    const task = known.get(id);
    promise(task !== undefined, `the task ${id} (${step} of ${document}) was lost`);
  }
  for (const task of tasks) {
    const name = `${task.capability} ${task.task_id}`;
    promise(isTerminal(task.state), `${name} has not ended: ${task.state}`);
    promise(task.state === 'succeeded', `${name} did not succeed: ${task.error?.message ?? task.state}`);
    const failures = task.deliveries.filter((d) => d.state === 'failed').length;
    const explained = attributions.filter(
      (a) => a.task_id === task.task_id && a.delivery_id !== undefined,
    ).length;
    promise(failures === explained, `${name} has ${failures} failed attempts and ${explained} attributions`);
    const successes = task.deliveries.filter((d) => d.state === 'succeeded').length;
    promise(successes <= 1, `${name} succeeded ${successes} times`);
  }
  const holders = known.get(orphan)?.deliveries.map((d) => d.agent_id) ?? [];
  promise(
    holders.at(-1) !== VICTIM && holders.length > 1,
    'the killed agent’s task was not given to another agent',
  );
  promise(
    attributions.every((a) => a.blame !== 'dependency' || a.dependency === 'document-service'),
    'something was blamed that had not failed',
  );
  for (const agent of agents)
    promise(agent.in_flight === 0, `${agent.agent_id} still holds ${agent.in_flight} tasks`);
  promise(report !== undefined && report.length > 0, 'there is no report');
  return broken;
}
