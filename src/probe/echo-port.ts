import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';
import type { ProbeResult } from '../core/probe-result.js';

/** How an agent said that it is doing, with its last heartbeat. */
export interface ReportedLoad {
  in_flight?: number | undefined;
  queued?: number | undefined;
  pool_usage?: number | undefined;
}

/** The sessions that end on this replica, as far as the prober needs them. */
export interface EchoTransport {
  /** Whether the agent has its session here, under that lease. */
  has(agentKey: string, leaseId: string): boolean;

  /** What the agent reported last over its session here. */
  load(agentKey: string): ReportedLoad | undefined;

  /**
   * Asks the agent to answer. `deep`: by running its probe tool.
   * @returns by `timeoutMs` at the latest; never rejects
   */
  echo(agentKey: string, deep: boolean, timeoutMs: number): Promise<ProbeResult>;
}

interface EchoEvents {
  /** The agent opened a session on this replica. */
  opened: [agentKey: string];
  /** Its session on this replica is over. */
  closed: [agentKey: string];
}

/** Where sessions, which stand above the prober, offer it their echo. */
@Injectable()
export class EchoPort extends EventEmitter<EchoEvents> {
  private transport: EchoTransport | undefined;

  connect(transport: EchoTransport): void {
    this.transport = transport;
  }

  /** As `EchoTransport.has`. */
  has(agentKey: string, leaseId: string): boolean {
    return this.transport?.has(agentKey, leaseId) ?? false;
  }

  /** As `EchoTransport.load`. */
  load(agentKey: string): ReportedLoad | undefined {
    return this.transport?.load(agentKey);
  }

  /** As `EchoTransport.echo`. */
  async echo(agentKey: string, deep: boolean, timeoutMs: number): Promise<ProbeResult> {
    if (this.transport !== undefined) return this.transport.echo(agentKey, deep, timeoutMs);
    return { ok: false, fault: 'misconfigured', latencyMs: 0, detail: 'no sessions end here' };
  }
}
