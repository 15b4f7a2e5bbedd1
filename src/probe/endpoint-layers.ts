import { Inject, Injectable, Logger } from '@nestjs/common';
import { hasRoomForPing, type Load } from '../core/deep-ping.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import type { ReachEntry } from '../registry/reach-table.js';
import { deepMs, type Layer } from './agent-target.js';
import type { ProbeLimits } from './prober.js';
import { Probers } from './probers/probers.js';

const L2_TIMEOUT_MS = 5000;
const L3_TIMEOUT_MS = 20_000;
/** Any of these says that an HTTP server works there, whether it has such a page, and shows it to us, or not. */
const HTTP_WORKS = [
  200, 201, 202, 203, 204, 206, 400, 401, 403, 404, 405, 406, 410, 415, 421, 422, 426, 429, 501,
];
const DEEP_BODY = JSON.stringify({ type: 'echo', deep: true });

/** Whom to ask, and how, from the deepest layer to the lightest. */
interface Endpoint {
  host: string;
  layers: [...Layer[], Layer];
}

/** How an agent is asked at its endpoint: TCP, then HTTP, then its probe tool where it has one. */
@Injectable()
export class EndpointLayers {
  private readonly log = new Logger(EndpointLayers.name);

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly probers: Probers,
  ) {}

  /** @returns undefined for an agent whose endpoint cannot be asked */
  of(entry: ReachEntry, answersEchoes: boolean): Endpoint | undefined {
    if (entry.endpoint === undefined) return undefined;
    try {
      return this.layersOf(entry, new URL(entry.endpoint), answersEchoes);
    } catch (err) {
      const msg = `the endpoint of agent ${entry.agentId} cannot be probed`;
      this.log.warn({ msg, namespace: entry.namespace, agent_id: entry.agentId, err });
      return undefined;
    }
  }

  private layersOf(entry: ReachEntry, url: URL, answersEchoes: boolean): Endpoint {
    const host = `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
    const {
      connectTimeoutMs: connectMs,
      probeIntervalL1Ms,
      probeIntervalL2Ms,
      probeIntervalL3Ms,
    } = this.config;
    const limits = (totalMs: number) => ({ connectMs, firstByteMs: totalMs, totalMs });
    const load = (): Load => ({ poolUsage: entry.inFlight / entry.maxConcurrency, queued: 0 });
    const tcp = this.asking({ type: 'tcp', target: host }, limits(connectMs));
    const page = {
      type: 'http',
      target: `${url.origin}/healthz`,
      options: { expect: { status: HTTP_WORKS } },
    };
    const expect = { json: { ok: true, echo: 'reachable' } };
    const headers = { 'content-type': 'application/json' };
    const options = { method: 'POST', headers, body: DEEP_BODY, expect };
    const tool = { type: 'http', target: url.href, options };
    const l1: Layer = { kind: 'l1', intervalMs: () => probeIntervalL1Ms, may: always, probe: tcp };
    const l2: Layer = {
      kind: 'l2',
      intervalMs: () => probeIntervalL2Ms,
      may: always,
      probe: this.asking(page, limits(L2_TIMEOUT_MS)),
    };
    const l3: Layer = {
      kind: 'l3',
      intervalMs: () => deepMs(probeIntervalL3Ms, load()),
      may: () => hasRoomForPing(load()),
      probe: this.asking(tool, limits(L3_TIMEOUT_MS)),
    };
    return { host: `endpoint ${host}`, layers: answersEchoes ? [l3, l2, l1] : [l2, l1] };
  }

  private asking(
    declared: { type: string; target: string; options?: object },
    limits: ProbeLimits,
  ): Layer['probe'] {
    const prober = this.probers.get(declared.type);
    if (prober === undefined) throw new Error(`there is no prober for ${declared.type}`);
    const target = prober.parse({ name: 'endpoint', timeout_ms: limits.totalMs, ...declared });
    return (signal) => prober.probe(target, limits, signal);
  }
}

const always = (): boolean => true;
