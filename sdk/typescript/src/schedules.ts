import type { Http } from './http.js';
import type { Page, Schedule, ScheduleDetail, ScheduleRequest } from './wire.js';

const pathOf = (id: string): string => `schedules/${encodeURIComponent(id)}`;

/** Tasks that come again and again, by cron expression. As `client.schedules`. */
export class Schedules {
  constructor(
    private readonly http: Http,
    private readonly namespace: string,
  ) {}

  /** All schedules of the namespace, by id. */
  async *list(): AsyncGenerator<Schedule> {
    let cursor: string | undefined;
    do {
      const query = { namespace: this.namespace, limit: 200, cursor };
      const page: Page<Schedule> = await this.http.json({ method: 'GET', path: 'schedules', query });
      yield* page.items;
      cursor = page.next_cursor;
    } while (cursor !== undefined);
  }

  /** One schedule, with its next fire times and what came of the last ones. */
  get(id: string): Promise<ScheduleDetail> {
    return this.http.json({ method: 'GET', path: pathOf(id), query: this.named() });
  }

  /** Creates or replaces a schedule. */
  set(id: string, schedule: ScheduleRequest): Promise<ScheduleDetail> {
    const body = { ...schedule, ...this.named() };
    return this.http.json({ method: 'PUT', path: pathOf(id), body, repeatable: true });
  }

  /** Removes a schedule; tasks that it made go on. */
  remove(id: string): Promise<Schedule> {
    return this.http.json({ method: 'DELETE', path: pathOf(id), query: this.named() });
  }

  /** Nothing fires until it is resumed; what passes meanwhile is not caught up. */
  pause(id: string, reason = ''): Promise<Schedule> {
    const body = { ...this.named(), reason };
    return this.http.json({ method: 'POST', path: `${pathOf(id)}/pause`, body, repeatable: true });
  }

  resume(id: string): Promise<Schedule> {
    return this.http.json({
      method: 'POST',
      path: `${pathOf(id)}/resume`,
      query: this.named(),
      repeatable: true,
    });
  }

  /** Fires now, beside its times. */
  trigger(id: string): Promise<{ schedule_id: string; task_id: string }> {
    return this.http.json({ method: 'POST', path: `${pathOf(id)}/trigger`, query: this.named() });
  }

  private named(): { namespace: string } {
    return { namespace: this.namespace };
  }
}
