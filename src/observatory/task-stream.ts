import { Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { TaskNews } from '../scheduler/task-news.js';
import { ChangeSignal, EventStream } from './event-stream.js';
import { Explainer } from './explainer.js';
import type { StoryEntry } from './story.js';

type TaskEvents = Awaited<ReturnType<Explainer['events']>>;

/** Looks into the ledger at least this often; also keeps proxies from closing an idle stream. */
const RECHECK_MS = 2000;
const KEEP_ALIVE = ': still here\n\n';

/** Server-sent events of one task. */
@Injectable()
export class TaskStream {
  private readonly log = new Logger(TaskStream.name);

  constructor(
    private readonly explainer: Explainer,
    private readonly news: TaskNews,
    private readonly shutdown: Shutdown,
  ) {}

  /**
   * Sends the story from after position `since`, and goes on until it ends, the caller hangs up or the replica
   * stops (the caller resumes elsewhere by `Last-Event-ID`).
   * @throws ReachError NOT_FOUND before anything was sent
   */
  async serve(namespace: string, taskId: string, since: number, reply: FastifyReply): Promise<void> {
    const change = new ChangeSignal();
    // Before the first look, so that nothing slips in between.
    const stop = await this.news.watch(taskId, () => change.raise());
    try {
      const first = await this.explainer.events(namespace, taskId);
      await this.send(namespace, taskId, since, first, EventStream.open(reply, change));
    } finally {
      stop();
    }
  }

  private async send(
    namespace: string,
    taskId: string,
    since: number,
    first: TaskEvents,
    stream: EventStream,
  ): Promise<void> {
    let sent = since;
    try {
      for (let story = first; ; story = await this.explainer.events(namespace, taskId)) {
        const fresh = story.entries.slice(sent);
        await stream.write(fresh.length === 0 ? KEEP_ALIVE : fresh.map(eventText).join(''));
        sent += fresh.length;
        if (story.over || stream.gone || this.shutdown.stopping) break;
        await stream.next(RECHECK_MS);
        if (stream.gone) break;
      }
    } catch (err) {
      this.log.warn({ msg: 'a task stream broke off; its reader may resume it', task_id: taskId, err });
    }
    stream.end();
  }
}

function eventText(entry: StoryEntry): string {
  return `id: ${entry.position}\nevent: ${entry.kind}\ndata: ${JSON.stringify(entry)}\n\n`;
}
