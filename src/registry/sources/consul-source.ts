import { z } from 'zod';
import type { Config } from '../../platform/config/config.js';
import type { Credentials } from '../../platform/outbound/credentials.js';
import { follow } from './blocking-query.js';
import {
  MOST_SERVICES,
  SourceError,
  unreadable,
  wrongIn,
  type RegistrySource,
  type SourceInstance,
  type SourceListener,
} from './registry-source.js';
import { ServiceView } from './service-view.js';
import { SourceHttp } from './source-http.js';

/* Consul's HTTP API, as https://developer.hashicorp.com/consul/api-docs has it (catalog, health). */

const catalog = z.record(z.string(), z.array(z.string()));

const entries = z.array(z.unknown());
const healthEntry = z.object({
  Node: z.object({ Node: z.string(), Address: z.string() }),
  Service: z.object({
    ID: z.string(),
    Service: z.string(),
    Tags: z.array(z.string()).nullish(),
    Address: z.string().default(''),
    Port: z.number().int(),
    Meta: z.record(z.string(), z.string()).nullish(),
  }),
  Checks: z.array(z.object({ Status: z.string() })).default([]),
});
type HealthEntry = z.output<typeof healthEntry>;

export type ConsulSettings = Pick<
  Config,
  'consulUrl' | 'consulTag' | 'consulServices' | 'consulCredential' | 'sourceIntervalMs'
>;

/** Follows the services of a Consul that carry a tag, or those that are named, by blocking queries. */
export class ConsulSource implements RegistrySource {
  readonly name = 'consul';

  constructor(
    private readonly settings: ConsulSettings & { consulUrl: string },
    private readonly credentials: Credentials,
  ) {}

  async watch(listener: SourceListener, signal: AbortSignal): Promise<void> {
    const http = new SourceHttp(this.name, this.settings.consulUrl);
    const view = new ServiceView(listener);
    const loops = new Map<string, { end: AbortController; done: Promise<void> }>();
    const followOnly = (names: readonly string[]): void => {
      view.setServices(names);
      for (const [name, loop] of loops) {
        if (names.includes(name)) continue;
        loop.end.abort();
        loops.delete(name);
      }
      for (const name of names) {
        if (loops.has(name)) continue;
        const end = new AbortController();
        const either = AbortSignal.any([signal, end.signal]);
        loops.set(name, { end, done: this.followService(http, name, view, listener, either) });
      }
    };
    try {
      const { consulServices } = this.settings;
      if (consulServices.length > 0) {
        followOnly(consulServices.slice(0, MOST_SERVICES));
        await Promise.all([...loops.values()].map((loop) => loop.done));
      } else await this.followCatalog(http, view, followOnly, listener, signal);
    } finally {
      await http.close();
    }
  }

  private followCatalog(
    http: SourceHttp,
    view: ServiceView,
    followOnly: (names: readonly string[]) => void,
    listener: SourceListener,
    signal: AbortSignal,
  ): Promise<void> {
    const accept = (body: unknown): void => {
      const services = parsed(catalog, '/v1/catalog/services', body);
      const tagged = Object.keys(services).filter((name) =>
        services[name]?.includes(this.settings.consulTag),
      );
      if (tagged.length > MOST_SERVICES)
        // Which ones would be left out is nobody's choice, and those left out would seem to be gone.
        throw new SourceError(
          `${tagged.length} services of consul carry the tag; ${MOST_SERVICES} can be followed`,
        );
      followOnly(tagged);
      view.tell();
    };
    return this.follow(http, '/v1/catalog/services', accept, listener, signal);
  }

  private followService(
    http: SourceHttp,
    service: string,
    view: ServiceView,
    listener: SourceListener,
    signal: AbortSignal,
  ): Promise<void> {
    const path = `/v1/health/service/${encodeURIComponent(service)}`;
    const named = this.settings.consulServices.length > 0;
    const accept = (body: unknown): void => {
      const found = parsed(entries, path, body).map((entry, at): SourceInstance => {
        const read = healthEntry.safeParse(entry);
        return read.success ? toInstance(read.data) : unreadable(service, at, wrongIn(read.error));
      });
      const isMeant = (i: SourceInstance) =>
        named || i.unreadable !== undefined || i.tags.includes(this.settings.consulTag);
      view.setInstances(service, found.filter(isMeant));
      view.tell();
    };
    return this.follow(http, path, accept, listener, signal);
  }

  private follow(
    http: SourceHttp,
    path: string,
    accept: (body: unknown) => void,
    listener: SourceListener,
    signal: AbortSignal,
  ): Promise<void> {
    const headers = async (): Promise<Record<string, string>> => {
      const { consulCredential } = this.settings;
      if (consulCredential === '') return {};
      return { 'x-consul-token': await this.credentials.read(consulCredential, http.host) };
    };
    const failed = (error: Error) => listener.failed(error);
    return follow(http, { path, headers, accept, failed, paceMs: this.settings.sourceIntervalMs }, signal);
  }
}

/** `warning` still takes work, as in Consul's own DNS answers; a node in maintenance is critical. */
function toInstance(entry: HealthEntry): SourceInstance {
  const { Service, Node, Checks } = entry;
  return {
    service: Service.Service,
    id: `${Service.ID} of ${Service.Service} at node ${Node.Node}`,
    host: Service.Address || Node.Address,
    port: Service.Port,
    healthy: Checks.every(({ Status }) => Status === 'passing' || Status === 'warning'),
    tags: Service.Tags ?? [],
    meta: Service.Meta ?? {},
  };
}

function parsed<T>(schema: z.ZodType<T>, path: string, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new SourceError(`consul answered ${path} with something else: ${wrongIn(result.error)}`);
}
