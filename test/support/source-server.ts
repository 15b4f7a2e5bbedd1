import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** An instance of a service, as tests put it into a registry. */
export interface Put {
  host?: string;
  port: number;
  healthy?: boolean;
  meta?: Record<string, string>;
  /** false: nothing says that it is an agent. */
  marked?: boolean;
}

/** How a server misbehaves. */
export type Fault = 'none' | 'status 500' | 'status 429' | 'garbage' | 'other json' | 'silent' | 'flood';

/** A registry of services over HTTP, which can be made to fail, and dies with its test. */
export abstract class SourceServer {
  protected readonly services = new Map<string, Map<string, Put>>();
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  private port = 0;
  /** Paths with their queries, in the order in which they came. */
  readonly asked: URL[] = [];
  fault: Fault = 'none';
  /** Entries that are no instances, in every list of instances. */
  junk: unknown[] = [];

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<this> {
    this.server = createServer((request, response) => this.receive(request, response));
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  /** Connections that are open now. */
  get connections(): number {
    return this.sockets.size;
  }

  /** Away at once; `start` brings it back at the same port, with what it had. */
  async kill(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    this.server = undefined;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  put(service: string, id: string, instance: Put): void {
    const instances = this.services.get(service) ?? new Map<string, Put>();
    this.services.set(service, instances.set(id, instance));
    this.changed(service);
  }

  remove(service: string, id: string): void {
    const instances = this.services.get(service);
    instances?.delete(id);
    if (instances?.size === 0) this.services.delete(service);
    this.changed(service);
  }

  protected abstract changed(service: string): void;
  protected abstract answer(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void>;

  protected send(response: ServerResponse, body: unknown, status = 200): void {
    if (response.destroyed) return;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://x');
    this.asked.push(url);
    switch (this.fault) {
      case 'none':
        void this.answer(url, request, response);
        return;
      case 'status 500':
        this.send(response, 'rpc error: No cluster leader', 500);
        return;
      case 'status 429':
        this.send(response, 'Your IP is issuing too many concurrent connections', 429);
        return;
      case 'garbage':
        response.end('<html>\u0000 not json');
        return;
      case 'other json':
        this.send(response, { code: 0, data: 7 });
        return;
      case 'flood':
        response.end(Buffer.alloc(9 * 1024 * 1024, 0x20));
        return;
      case 'silent':
    }
  }
}

interface Version {
  index: number;
  waiters: Set<() => void>;
}

/**
 * Consul's catalog and health endpoints with blocking queries as its documentation has them: the answer carries
 * X-Consul-Index; a query with an index that is not below it hangs until a change, or `wait` and up to a sixteenth.
 */
export class ConsulServer extends SourceServer {
  private index = 10;
  private readonly versions = new Map<string, Version>();
  /** Wanted in X-Consul-Token. */
  token: string | undefined;

  /** As after a restore from an old snapshot: indexes go backwards, and blocked queries return. */
  resetIndex(): void {
    this.index = 5;
    for (const version of this.versions.values()) {
      version.index = 5;
      for (const wake of [...version.waiters]) wake();
    }
  }

  protected changed(service: string): void {
    this.index += 1;
    for (const place of ['catalog', service]) {
      const version = this.versionOf(place);
      version.index = this.index;
      for (const wake of [...version.waiters]) wake();
    }
  }

  protected async answer(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.token !== undefined && request.headers['x-consul-token'] !== this.token) {
      this.send(response, 'Permission denied', 403);
      return;
    }
    const service = /^\/v1\/health\/service\/(.+)$/.exec(url.pathname)?.[1];
    const name = service === undefined ? undefined : decodeURIComponent(service);
    if (name === undefined && url.pathname !== '/v1/catalog/services') {
      this.send(response, 'not found', 404);
      return;
    }
    const version = this.versionOf(name ?? 'catalog');
    await this.block(version, url);
    response.setHeader('X-Consul-Index', String(version.index));
    this.send(response, name === undefined ? this.catalog() : this.health(name));
  }

  private versionOf(place: string): Version {
    const version = this.versions.get(place) ?? { index: this.index, waiters: new Set() };
    this.versions.set(place, version);
    return version;
  }

  private async block(version: Version, url: URL): Promise<void> {
    const index = Number(url.searchParams.get('index') ?? 0);
    if (index === 0 || version.index > index) return;
    const waitMs = Number.parseInt(url.searchParams.get('wait') ?? '300', 10) * 1000;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        version.waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, waitMs * (1 + Math.random() / 16));
      timer.unref();
      version.waiters.add(done);
    });
  }

  private catalog(): unknown {
    const tagsOf = (instances: Map<string, Put>) => [
      ...new Set([...instances.values()].flatMap((i) => (i.marked === false ? [] : ['agent-reach']))),
    ];
    return {
      consul: [],
      ...Object.fromEntries([...this.services].map(([name, list]) => [name, tagsOf(list)])),
    };
  }

  private health(service: string): unknown {
    const entries = [...(this.services.get(service) ?? [])].map(([id, put]) => ({
      Node: { ID: '40e4a748', Node: 'node-1', Address: put.host ?? '127.0.0.1', Datacenter: 'dc1', Meta: {} },
      Service: {
        ID: id,
        Service: service,
        Tags: put.marked === false ? null : ['agent-reach'],
        Address: '',
        Port: put.port,
        Meta: put.meta ?? null,
        Weights: { Passing: 1, Warning: 1 },
      },
      Checks: [
        { Node: 'node-1', CheckID: 'serfHealth', Status: 'passing', ServiceID: '' },
        { Node: 'node-1', CheckID: `service:${id}`, Status: put.healthy === false ? 'critical' : 'warning' },
      ],
    }));
    return [...this.junk, ...entries];
  }
}

/** The lists of Nacos in its three APIs, with login. */
export class NacosServer extends SourceServer {
  /** Wanted at the login; undefined: everybody is let in. */
  password: string | undefined;
  /** Servers before 3.0 do not know the newer way to log in. */
  hasOldLoginOnly = false;
  logins = 0;
  tokenTtlS = 18_000;
  /** The one token that is good. */
  token = '';

  protected changed(): void {
    // Read again and again; nobody waits.
  }

  protected async answer(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = url.pathname.replace(/^\/nacos/, '');
    if (/login$/.test(path)) {
      await this.logIn(path, request, response);
      return;
    }
    const { authorization, accesstoken } = request.headers;
    const shown = path.startsWith('/v3') ? accesstoken : authorization?.replace(/^Bearer /, '');
    if (this.password !== undefined && (this.token === '' || shown !== this.token)) {
      this.send(response, { code: 403, message: 'access denied', data: null }, 403);
      return;
    }
    const query = url.searchParams;
    const isThere =
      (query.get('namespaceId') ?? 'public') === 'public' && query.get('groupName') === 'agents';
    const names = isThere ? [...this.services.keys()] : [];
    const at = (Number(query.get('pageNo')) - 1) * Number(query.get('pageSize'));
    const page = names.slice(at, at + Number(query.get('pageSize')));
    const hosts = isThere ? this.hosts(query.get('serviceName') ?? '') : [];
    const wrap = (data: unknown) => ({ code: 0, message: 'success', data });
    const answers: Record<string, unknown> = {
      '/v1/ns/service/list': { count: names.length, doms: page },
      '/v1/ns/instance/list': {
        name: 'x',
        groupName: 'agents',
        hosts,
        lastRefTime: Date.now(),
        checksum: '',
      },
      '/v2/ns/service/list': wrap({ count: names.length, services: page }),
      '/v2/ns/instance/list': wrap({ name: 'x', hosts, lastRefTime: Date.now(), valid: true }),
      '/v3/admin/ns/service/list': wrap({
        totalCount: names.length,
        pageNumber: 1,
        pageItems: page.map((name) => ({ name, groupName: 'agents', ipCount: 1 })),
      }),
      '/v3/client/ns/instance/list': wrap(hosts),
    };
    if (path in answers) this.send(response, answers[path]);
    else this.send(response, { code: 404, message: 'No static resource' }, 404);
  }

  private async logIn(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.hasOldLoginOnly && path.startsWith('/v3')) {
      this.send(response, { status: 404 }, 404);
      return;
    }
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const form = new URLSearchParams(text);
    if (form.get('username') !== 'nacos' || form.get('password') !== this.password) {
      this.send(response, 'unknown user!', 403);
      return;
    }
    this.logins += 1;
    this.token = `token-${this.logins}`;
    this.send(response, { accessToken: this.token, tokenTtl: this.tokenTtlS, globalAdmin: true });
  }

  private hosts(service: string): unknown[] {
    const hosts = [...(this.services.get(service) ?? [])].map(([id, put]) => ({
      instanceId: id,
      ip: put.host ?? '127.0.0.1',
      port: put.port,
      weight: 1.0,
      healthy: put.healthy !== false,
      enabled: true,
      ephemeral: true,
      clusterName: 'DEFAULT',
      serviceName: `agents@@${service}`,
      metadata: { ...(put.marked === false ? {} : { reach_weight: '100' }), ...put.meta },
    }));
    return [...this.junk, ...hosts];
  }
}
