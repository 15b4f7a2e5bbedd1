import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../platform/config/config.js';
import type { Credentials } from '../../platform/outbound/credentials.js';
import { LOGIN_PATHS, NACOS_APIS, nacosHost, parsedBy, tokenOf } from './nacos-api.js';
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

/*
 * Design note. Nacos pushes changes by UDP to 1.x clients and by gRPC to those of 2.x and 3.x; its HTTP API has no
 * subscription ("please use gRPC", says its controller). Both push protocols are private to its clients, so the lists
 * are read again in the rhythm of its clients' heartbeats (5 s): as late as its own news of a dead instance is, and
 * whole each time, so that nothing is missed.
 */

const PAGE = 500;
const TIMEOUT_MS = 10_000;
const AT_A_TIME = 4;
/** A token is renewed when this share of its time is over. */
const TOKEN_SHARE = 0.8;
/** What marks an instance as an agent, where services are not named. */
const MARK = 'reach_';

export type NacosSettings = Pick<
  Config,
  | 'nacosApi'
  | 'nacosNamespace'
  | 'nacosGroup'
  | 'nacosServices'
  | 'nacosUsername'
  | 'nacosCredential'
  | 'sourceIntervalMs'
>;

/** Reads the services of one namespace and group of a Nacos again and again. */
export class NacosSource implements RegistrySource {
  readonly name = 'nacos';

  constructor(
    private readonly settings: NacosSettings & { nacosUrl: string },
    private readonly credentials: Credentials,
  ) {}

  async watch(listener: SourceListener, signal: AbortSignal): Promise<void> {
    const reader = new NacosReader(this.settings, this.credentials, signal);
    const view = new ServiceView(listener);
    try {
      while (!signal.aborted) {
        await this.read(reader, view).catch((error: unknown) => {
          if (!signal.aborted) listener.failed(error as Error);
        });
        await sleep(this.settings.sourceIntervalMs * (0.9 + 0.2 * Math.random()), undefined, {
          signal,
          ref: false,
        }).catch(() => undefined);
      }
    } finally {
      await reader.close();
    }
  }

  /** One round; services that cannot be read keep what they had, and the first failure is told. */
  private async read(reader: NacosReader, view: ServiceView): Promise<void> {
    const named = this.settings.nacosServices;
    const services = named.length > 0 ? named.slice(0, MOST_SERVICES) : await reader.services();
    view.setServices(services);
    const failures: Error[] = [];
    const todo = [...services];
    const work = async (): Promise<void> => {
      for (let service = todo.pop(); service !== undefined; service = todo.pop()) {
        try {
          const hosts = (await reader.instances(service)).map(readerOf(service));
          const isMeant = (i: SourceInstance) =>
            named.length > 0 || i.unreadable !== undefined || isMarked(i);
          view.setInstances(service, hosts.flat().filter(isMeant));
        } catch (error) {
          failures.push(error as Error);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    view.tell();
    const [first] = failures;
    if (first !== undefined) throw first;
  }
}

/** The HTTP API of one Nacos, with a token where it wants one. */
class NacosReader {
  private readonly http: SourceHttp;
  private token: { token: string; renewAtMs: number } | undefined;
  private login: Promise<string> | undefined;

  constructor(
    private readonly settings: NacosSettings & { nacosUrl: string },
    private readonly credentials: Credentials,
    private readonly signal: AbortSignal,
  ) {
    this.http = new SourceHttp('nacos', settings.nacosUrl);
  }

  async services(): Promise<string[]> {
    const api = NACOS_APIS[this.settings.nacosApi];
    const names: string[] = [];
    for (let page = 1; ; page++) {
      const query = { ...this.scope(), pageNo: String(page), pageSize: String(PAGE) };
      const answer = parsedBy(api.services, 'the list of services', await this.get(api.servicesPath, query));
      names.push(...answer.names.map(withoutGroup));
      const total = Math.max(answer.total, names.length);
      if (total > MOST_SERVICES)
        throw new SourceError(
          `nacos has ${total} services in the group, and ${MOST_SERVICES} can be followed; name them`,
        );
      if (names.length >= answer.total || answer.names.length === 0) return names;
    }
  }

  async instances(service: string): Promise<unknown[]> {
    const api = NACOS_APIS[this.settings.nacosApi];
    const query = { ...this.scope(), serviceName: service, healthyOnly: 'false' };
    return parsedBy(api.instances, `the instances of ${service}`, await this.get(api.instancesPath, query));
  }

  close(): Promise<void> {
    return this.http.close();
  }

  private scope(): Record<string, string> {
    const { nacosNamespace, nacosGroup } = this.settings;
    return { groupName: nacosGroup, ...(nacosNamespace !== '' && { namespaceId: nacosNamespace }) };
  }

  private async get(path: string, query: Record<string, string>): Promise<unknown> {
    const asked = `${path}?${new URLSearchParams(query).toString()}`;
    const ask = async () =>
      (
        await this.http.json({
          path: asked,
          headers: await this.authorization(),
          timeoutMs: TIMEOUT_MS,
          signal: this.signal,
        })
      ).body;
    try {
      return await ask();
    } catch (error) {
      const status = error instanceof SourceError ? error.status : undefined;
      if (this.token === undefined || (status !== 401 && status !== 403)) throw error;
      // The token may have ended before its time: a restarted server, a changed key.
      this.token = undefined;
      return ask();
    }
  }

  private async authorization(): Promise<Record<string, string>> {
    if (this.settings.nacosCredential === '') return {};
    if (this.token === undefined || this.token.renewAtMs < performance.now()) {
      this.login ??= this.logIn().finally(() => (this.login = undefined));
      await this.login;
    }
    const token = this.token?.token ?? '';
    // In headers, not in the query: addresses end up in logs. 3.x reads the first, older ones the second.
    return { accesstoken: token, authorization: `Bearer ${token}` };
  }

  private async logIn(): Promise<string> {
    const password = await this.credentials.read(this.settings.nacosCredential, this.http.host);
    const form = { username: this.settings.nacosUsername, password };
    const tries = { timeoutMs: TIMEOUT_MS, signal: this.signal, form };
    const [newer, older] = LOGIN_PATHS;
    const answer = await this.http.json({ path: newer, ...tries }).catch((error: unknown) => {
      const status = error instanceof SourceError ? error.status : undefined;
      if (status === undefined || ![404, 405, 410, 501].includes(status)) throw error;
      return this.http.json({ path: older, ...tries });
    });
    const { token, ttlMs } = tokenOf(answer.body);
    this.token = { token, renewAtMs: performance.now() + ttlMs * TOKEN_SHARE };
    return token;
  }
}

/** `group@@name` as `name`. */
function withoutGroup(name: string): string {
  const at = name.indexOf('@@');
  return at < 0 ? name : name.slice(at + 2);
}

function isMarked({ meta }: SourceInstance): boolean {
  return Object.keys(meta).some((key) => key.startsWith(MARK));
}

/** An instance that is taken out of service is none. */
function readerOf(service: string): (host: unknown, at: number) => SourceInstance[] {
  return (value, at) => {
    const read = nacosHost.safeParse(value);
    if (!read.success) return [unreadable(service, at, wrongIn(read.error))];
    const { ip, port, healthy, enabled, metadata } = read.data;
    const meta = Object.fromEntries(Object.entries(metadata ?? {}).map(([key, text]) => [key, text ?? '']));
    const id = `${service} at ${ip}:${port}`;
    return enabled ? [{ service, id, host: ip, port, healthy, tags: [], meta }] : [];
  };
}
