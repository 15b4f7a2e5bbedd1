import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Api } from './api.js';
import { guardOf } from './dispatcher.js';
import { until } from './until.js';

const MAIN = join(import.meta.dirname, 'agent-main.mjs');

/** What an agent process said. */
export interface Said {
  event: string;
  task_id?: string;
  attempt?: number;
  [key: string]: unknown;
}

/** An agent of the SDK in a process of its own, which dies with this one. It offers `work`. */
export class AgentProcess {
  /** Everything it said so far. */
  readonly said: Said[] = [];
  private readonly ended: Promise<[number | null, NodeJS.Signals | null]>;

  private constructor(private readonly child: ChildProcess) {
    guardOf(child);
    this.ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    if (child.stdout !== null)
      createInterface(child.stdout).on('line', (line) => this.said.push(JSON.parse(line) as Said));
  }

  /**
   * Starts it and waits until it is registered.
   * @param urls the dispatchers it may talk to
   */
  static async start(
    api: Api,
    urls: readonly string[],
    agentId: string,
    options: Record<string, unknown> = {},
  ): Promise<AgentProcess> {
    const settings = { url: urls, namespace: api.namespace, agentId, heartbeatIntervalMs: 200, ...options };
    const child = spawn(process.execPath, [MAIN, JSON.stringify(settings)], {
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const agent = new AgentProcess(child);
    await agent.says('registered');
    return agent;
  }

  /** Resolves when it has said `event` (of the task, where one is named). */
  async says(event: string, taskId?: string): Promise<Said> {
    const wanted = (s: Said) => s.event === event && (taskId === undefined || s.task_id === taskId);
    await until(`the agent says ${event}`, () => this.said.some(wanted), 20_000);
    return this.said.find(wanted) as Said;
  }

  count(event: string, taskId?: string): number {
    return this.said.filter((s) => s.event === event && (taskId === undefined || s.task_id === taskId))
      .length;
  }

  /** As a crash. */
  async kill9(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Ends it in the orderly way; resolves with its exit code. */
  async terminate(): Promise<number | null> {
    this.child.kill('SIGTERM');
    return (await this.ended)[0];
  }

  /** Resolves with its exit code once it has ended by itself. */
  async exited(): Promise<number | null> {
    return (await this.ended)[0];
  }

  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.child.kill('SIGCONT');
  }
}
