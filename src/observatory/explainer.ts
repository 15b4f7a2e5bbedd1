import { Injectable } from '@nestjs/common';
import { Hindrances } from '../scheduler/hindrances.js';
import { Tasks } from '../scheduler/tasks.js';
import { TaskStore } from '../scheduler/task.store.js';
import { AttributionStore, toAttributionView } from './attribution.store.js';
import { headlineOf, tellStory, type StoryEntry, type TaskFile } from './story.js';

const ATTRIBUTION_LIMIT = 500;

/** Puts together what the ledger knows of a task. */
@Injectable()
export class Explainer {
  constructor(
    private readonly tasks: Tasks,
    private readonly taskStore: TaskStore,
    private readonly attributions: AttributionStore,
    private readonly hindrances: Hindrances,
  ) {}

  /** @throws ReachError NOT_FOUND */
  async explain(namespace: string, taskId: string) {
    const file = await this.file(namespace, taskId);
    return {
      task_id: taskId,
      state: file.task.state,
      headline: headlineOf(file, this.hindrances.of(file.task.lane)),
      story: tellStory(file),
      attributions: file.attributions.map(toAttributionView),
    };
  }

  /**
   * The story so far, for a stream: without the changes of agents' states, which are written apart from the
   * task and may come late, so that a position never moves.
   * @throws ReachError NOT_FOUND
   */
  async events(namespace: string, taskId: string): Promise<{ entries: StoryEntry[]; over: boolean }> {
    const file = await this.file(namespace, taskId, false);
    return { entries: tellStory(file), over: file.task.finished_at !== null };
  }

  /** All of one moment: a delivery is either open in the task or closed among its deliveries, never both. */
  private file(namespace: string, taskId: string, withMoments = true): Promise<TaskFile> {
    return this.taskStore.snapshot(async (on) => {
      const task = await this.tasks.require(namespace, taskId, on);
      const deliveries = await this.taskStore.deliveries(taskId, on);
      const filter = { namespace, task_id: taskId };
      const attributions = await this.attributions.page(filter, null, ATTRIBUTION_LIMIT, on);
      const agents = new Set(deliveries.map((d) => d.agent_id));
      if (task.agent_id !== null) agents.add(task.agent_id);
      const from = deliveries[0]?.offered_at ?? task.offered_at ?? task.created_at;
      const to = task.finished_at ?? new Date();
      const moments = withMoments
        ? await this.attributions.agentMoments(namespace, [...agents], from, to, on)
        : [];
      return { task, deliveries, attributions: attributions.reverse(), moments };
    });
  }
}
