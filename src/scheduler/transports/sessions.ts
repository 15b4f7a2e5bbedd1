import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';
import type { ProbeResult } from '../../core/probe-result.js';
import type { ReportedLoad } from '../../probe/echo-port.js';

/** Where offers and news for an agent go that has a session on this replica. */
export interface AgentSink {
  readonly leaseId: string;
  /** What the agent reported last. */
  readonly load: ReportedLoad | undefined;
  /** Sends offers, as JSON texts, in one frame. */
  offer(offers: readonly string[]): void;
  /** These deliveries are not the agent's any more. */
  stale(deliveries: readonly { delivery_id: string; reason: string }[]): void;
  /** Asks it to answer; see `EchoTransport`. */
  echo(deep: boolean, timeoutMs: number): Promise<ProbeResult>;
}

interface SessionEvents {
  opened: [agentKey: string];
  closed: [agentKey: string];
}

/** The open sessions of this replica, by agent. */
@Injectable()
export class Sessions extends EventEmitter<SessionEvents> {
  private readonly sinks = new Map<string, AgentSink>();

  get(agentKey: string): AgentSink | undefined {
    return this.sinks.get(agentKey);
  }

  /** The newest session of an agent is the one that counts. */
  open(agentKey: string, sink: AgentSink): void {
    this.sinks.set(agentKey, sink);
    this.emit('opened', agentKey);
  }

  /** Returns whether `sink` was the agent's session (and not one that another had already taken over from). */
  close(agentKey: string, sink: AgentSink): boolean {
    if (this.sinks.get(agentKey) !== sink) return false;
    this.sinks.delete(agentKey);
    this.emit('closed', agentKey);
    return true;
  }

  /** Agents with a session here. */
  keys(): IterableIterator<string> {
    return this.sinks.keys();
  }

  get size(): number {
    return this.sinks.size;
  }
}
