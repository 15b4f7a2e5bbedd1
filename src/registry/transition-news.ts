import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '../platform/config/config.js';
import { COORDINATOR, type Coordinator } from '../platform/coordination/coordinator.js';
import { RegistryEvents, type Transition } from './registry.events.js';

const CHANNEL = 'transitions';

interface Message {
  from: string;
  transitions: (Omit<Transition, 'at' | 'here'> & { at: string })[];
}

/**
 * Carries changes of state between replicas: each is an event `transition` once on every replica, told there by the one
 * that committed it and by nobody else. Best effort, like all news; the history has every one.
 */
@Injectable()
export class TransitionNews implements OnApplicationBootstrap {
  private readonly log = new Logger(TransitionNews.name);
  private outgoing: Transition[] = [];

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly events: RegistryEvents,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.events.listen('transition', (transition) => {
      if (transition.here) this.add(transition);
    });
    await this.coordinator.subscribe(CHANNEL, (text) => this.hear(JSON.parse(text) as Message));
  }

  /** What is told in one go is sent in one message. */
  private add(transition: Transition): void {
    if (this.outgoing.push(transition) === 1) queueMicrotask(() => this.send());
  }

  private send(): void {
    const transitions = this.outgoing.map(({ here: _, ...t }) => t);
    this.outgoing = [];
    const text = JSON.stringify({ from: this.config.replicaId, transitions });
    this.coordinator.publish(CHANNEL, text).catch((err: unknown) => {
      this.log.debug({ msg: 'changes of state could not be told to the other replicas', err });
    });
  }

  private hear({ from, transitions }: Message): void {
    if (from === this.config.replicaId) return;
    for (const { at, ...transition } of transitions)
      this.events.emit('transition', { ...transition, at: new Date(at), here: false });
  }
}
