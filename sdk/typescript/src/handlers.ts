import { type TaskContext } from './context.js';
import { type CapabilityDeclaration, type Offer } from './wire.js';

/** What a handler sees of its task. */
export interface IncomingTask<P = unknown> {
  readonly taskId: string;
  readonly deliveryId: string;
  readonly capability: string;
  readonly payload: P;
  readonly attempt: number;
  readonly parentTaskId: string | undefined;
}

/** Does the work of one capability. What it returns becomes the result (any JSON value). */
// The payload's shape is the handler author's business; `any` lets `async (task: IncomingTask<MyPayload>) =>` fit.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Handler = (task: IncomingTask<any>, ctx: TaskContext) => unknown;

/** The handlers of an agent by capability. */
export class Handlers {
  private readonly byCapability = new Map<string, Handler>();
  private readonly declarations = new Map<string, CapabilityDeclaration>();

  /** @throws TypeError when the capability has a handler already */
  add(capability: string, handler: Handler, declaration: Omit<CapabilityDeclaration, 'name'> = {}): void {
    if (typeof handler !== 'function')
      throw new TypeError(`the handler of "${capability}" is not a function`);
    if (this.byCapability.has(capability))
      throw new TypeError(`capability "${capability}" has a handler already`);
    this.byCapability.set(capability, handler);
    this.declarations.set(capability, { name: capability, ...declaration });
  }

  /** What registration declares. */
  declared(): CapabilityDeclaration[] {
    return [...this.declarations.values()];
  }

  /**
   * The handler for an offer. A task that is addressed to the agent by id or name, without a capability,
   * goes to the only handler there is.
   */
  find(offer: Offer, addressedAs: readonly string[]): Handler | undefined {
    const exact = this.byCapability.get(offer.capability);
    if (exact) return exact;
    const [only, ...others] = this.byCapability.values();
    return others.length === 0 && addressedAs.includes(offer.capability) ? only : undefined;
  }
}
