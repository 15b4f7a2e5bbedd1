import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import type { FactsPatch } from '../registry/agent-facts.js';
import { AgentJudge } from '../registry/agent-judge.js';
import type { LeaseRef } from '../registry/registry.store.js';

const RETRY_MS = 1000;

interface Report {
  ref: LeaseRef;
  patch: FactsPatch;
  evidence: Record<string, unknown>;
}

/**
 * Brings verdicts to the registry. What could not be written is tried again until something newer about the same
 * thing replaces it.
 */
@Injectable()
export class Reporter implements OnApplicationBootstrap {
  private readonly log = new Logger(Reporter.name);
  private readonly latest = new Map<string, Report>();
  private readonly failed = new Set<string>();
  private readonly writing = new Set<Promise<void>>();
  private readonly ticker = new Ticker('probe reports', RETRY_MS, async () => this.again());

  constructor(
    private readonly judge: AgentJudge,
    shutdown: Shutdown,
  ) {
    shutdown.on('drain', 'probe reports', async () => {
      await this.ticker.stop();
      await Promise.all(this.writing);
    });
  }

  onApplicationBootstrap(): void {
    this.ticker.start();
  }

  /** Reports what is known about one thing, `about`, of an agent. Returns at once. */
  report(about: string, report: Report): void {
    const key = `${report.ref.leaseId} ${about}`;
    this.latest.set(key, report);
    this.write(key, report);
  }

  private write(key: string, report: Report): void {
    this.failed.delete(key);
    const writing = this.judge
      .report(report.ref, report.patch, report.evidence)
      .then(() => {
        if (this.latest.get(key) === report) this.latest.delete(key);
      })
      .catch((err: unknown) => {
        if (this.latest.get(key) !== report) return;
        this.failed.add(key);
        this.log.warn({
          msg: 'a verdict was not written; it will be tried again',
          agent_id: report.ref.agentId,
          err,
        });
      })
      .finally(() => this.writing.delete(writing));
    this.writing.add(writing);
  }

  private again(): void {
    for (const key of this.failed) {
      const report = this.latest.get(key);
      if (report !== undefined) this.write(key, report);
    }
  }
}
