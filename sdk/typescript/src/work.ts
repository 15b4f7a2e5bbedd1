import { type TaskContext } from './context.js';
import { type Offer } from './wire.js';

/** A delivery in this process. */
export interface Work {
  readonly offer: Offer;
  phase: 'waiting' | 'acking' | 'running' | 'reporting';
  context: TaskContext | undefined;
  /** It came by push: taking it was its ACK. */
  readonly pushed: boolean;
  /** The result counts no longer. */
  stale: boolean;
  /** The store of handled tasks let it run. */
  begun: boolean;
  /** Monotonic milliseconds. */
  startedAt: number;
}
