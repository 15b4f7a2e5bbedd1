import type { Http } from './http.js';
import type { CapabilityAlias, Page } from './wire.js';

const pathOf = (alias: string): string => `aliases/${encodeURIComponent(alias)}`;

/** Other names of capabilities. As `client.aliases`. */
export class Aliases {
  constructor(
    private readonly http: Http,
    private readonly namespace: string,
  ) {}

  /** All aliases of the namespace. */
  async *list(): AsyncGenerator<CapabilityAlias> {
    let cursor: string | undefined;
    do {
      const query = { namespace: this.namespace, limit: 200, cursor };
      const page: Page<CapabilityAlias> = await this.http.json({
        method: 'GET',
        path: 'aliases',
        query,
      });
      yield* page.items;
      cursor = page.next_cursor;
    } while (cursor !== undefined);
  }

  /** From now on `alias` is read as `capability`, of tasks and of agents. */
  set(alias: string, capability: string): Promise<CapabilityAlias> {
    const body = { namespace: this.namespace, capability };
    return this.http.json({ method: 'PUT', path: pathOf(alias), body, repeatable: true });
  }

  /** Forgets an alias. */
  remove(alias: string): Promise<CapabilityAlias> {
    return this.http.json({ method: 'DELETE', path: pathOf(alias), query: { namespace: this.namespace } });
  }
}
