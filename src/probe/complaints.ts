import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { COORDINATOR, type Coordinator } from '../platform/coordination/coordinator.js';
import { agentKey } from '../registry/agent-row.js';
import { DependencyWatch } from './dependency-watch.js';

const CHANNEL = 'dependency-complaints';
/** The same complaint is passed on this often at most, the last one of a row at the end of this time. */
const AGAIN_MS = 1000;
const MOST_REMEMBERED = 10_000;

interface Complaint {
  agent: string;
  /** Absent: the agent did not say which. */
  dependency?: string;
}

/**
 * An agent that fails for want of a dependency knows it before the next probe does: whoever probes that dependency
 * looks at once, as far as the distance between two probes of a host allows. The word of the agent alone changes no
 * verdict.
 */
@Injectable()
export class Complaints implements OnApplicationBootstrap {
  /** What was passed on of late, and whether it was heard again since. */
  private readonly recent = new Map<string, { again: boolean }>();

  constructor(
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly dependencies: DependencyWatch,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.coordinator.subscribe(CHANNEL, (text) => {
      const { agent, dependency } = JSON.parse(text) as Complaint;
      this.dependencies.hasten(agent, dependency);
    });
  }

  /** The agent reported that the dependency of this name failed it; undefined: some dependency. Returns at once. */
  dependencyFailed(namespace: string, agentId: string, dependency: string | undefined): void {
    const agent = agentKey(namespace, agentId);
    const key = `${agent}\u0000${dependency ?? ''}`;
    const recent = this.recent.get(key);
    if (recent !== undefined) recent.again = true;
    else if (this.recent.size < MOST_REMEMBERED)
      this.pass(key, { agent, ...(dependency !== undefined && { dependency }) });
  }

  private pass(key: string, complaint: Complaint): void {
    const recent = { again: false };
    this.recent.set(key, recent);
    // The owner may be any replica. Where this is lost the next regular probe finds out.
    this.coordinator
      .publish(CHANNEL, JSON.stringify(complaint))
      .catch(() => this.dependencies.hasten(complaint.agent, complaint.dependency));
    setTimeout(() => {
      this.recent.delete(key);
      if (recent.again) this.pass(key, complaint);
    }, AGAIN_MS).unref();
  }
}
