import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { guardOf } from '../../support/dispatcher.js';

/** A role (agents, load) as a process of its own, which dies with this one; it can be killed and begun anew. */
export class RoleProcess {
  private child: ChildProcess | undefined;
  private said = new Map<string, () => void>();
  private life = 0;
  private ordered = false;
  /** Told when it ended although nobody asked it to. */
  onDeath: () => void = () => undefined;

  /** @param orders makes what the role is told at its start; each life gets orders of its own */
  constructor(
    private readonly role: 'agents' | 'load',
    private readonly orders: (life: number) => object,
  ) {}

  /** Starts it and resolves when it has said `word`. */
  async start(word?: string): Promise<void> {
    const file = join(import.meta.dirname, `${this.role}.js`);
    const child = fork(file, [JSON.stringify(this.orders(this.life++))], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { PATH: process.env['PATH'] },
    });
    this.child = child;
    this.ordered = false;
    child.once('exit', () => this.ordered || this.onDeath());
    guardOf(child);
    child.on('message', (message) => typeof message === 'string' && this.said.get(message)?.());
    if (word !== undefined) await this.says(word);
  }

  /** Resolves when it says `word`. @throws when it ends before */
  says(word: string): Promise<void> {
    const { child, role } = this;
    return new Promise((resolve, reject) => {
      this.said.set(word, resolve);
      child?.once('exit', (code, signal) =>
        reject(new Error(`the role "${role}" ended (${code ?? signal}) before it said "${word}"`)),
      );
    });
  }

  get pid(): number | undefined {
    return this.running ? this.child?.pid : undefined;
  }

  get running(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Its own work ended it as a crash does; nobody here asked for it. */
  get killedByItself(): boolean {
    return this.child?.signalCode === 'SIGKILL' && !this.ordered;
  }

  tell(order: string): void {
    if (this.child?.connected) this.child.send(order);
  }

  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Ends it as a crash does; resolves when it is gone. */
  async kill9(): Promise<void> {
    await this.ended('SIGKILL');
  }

  /** Ends it in the orderly way, or as a crash does when it takes longer than `withinMs`. */
  async stop(withinMs = 20_000): Promise<void> {
    const timer = setTimeout(() => this.child?.kill('SIGKILL'), withinMs);
    await this.ended('SIGTERM');
    clearTimeout(timer);
  }

  private async ended(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child === undefined || !this.running) return;
    this.ordered = true;
    const exited = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill(signal);
    await exited;
  }
}
