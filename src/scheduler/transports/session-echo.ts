import { Injectable } from '@nestjs/common';
import type { ProbeResult } from '../../core/probe-result.js';
import { EchoPort, type EchoTransport, type ReportedLoad } from '../../probe/echo-port.js';
import { Sessions } from './sessions.js';

/** Lets the prober ask agents over the sessions that end here. */
@Injectable()
export class SessionEcho implements EchoTransport {
  constructor(
    private readonly sessions: Sessions,
    port: EchoPort,
  ) {
    port.connect(this);
    sessions.on('opened', (key) => port.emit('opened', key));
    sessions.on('closed', (key) => port.emit('closed', key));
  }

  has(agentKey: string, leaseId: string): boolean {
    return this.sessions.get(agentKey)?.leaseId === leaseId;
  }

  load(agentKey: string): ReportedLoad | undefined {
    return this.sessions.get(agentKey)?.load;
  }

  async echo(agentKey: string, deep: boolean, timeoutMs: number): Promise<ProbeResult> {
    const session = this.sessions.get(agentKey);
    if (session !== undefined) return session.echo(deep, timeoutMs);
    return { ok: false, fault: 'closed', latencyMs: 0, detail: 'the agent has no session here any more' };
  }
}
