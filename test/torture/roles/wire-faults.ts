import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Random } from '../plan/random.js';

/*
 * What can happen to words on their way: while `noisy`, each ACK, report or heartbeat of the agents in this
 * process may be said twice, late, not at all, or be joined by a forged one. It sits between the SDK and its
 * socket, so that the SDK is tortured with it.
 */

const SHARE = { twice: 0.06, lost: 0.02, unheard: 0.02, late: 0.06, forged: 0.05 } as const;
type Happening = keyof typeof SHARE;

const LONGEST_DELAY_MS = 4000;
const DELIVERIES = /"delivery_id":"([0-9a-f-]{36})\.(\d+)"/g;

/** Installs itself once; what it is asked to make noise of follows from `random`. */
export class WireFaults {
  noisy = false;

  constructor(private readonly random: Random) {
    this.onFetch();
    this.onSessions();
  }

  private happening(): Happening | undefined {
    if (!this.noisy) return undefined;
    let at = this.random();
    for (const [what, share] of Object.entries(SHARE)) {
      if (at < share) return what as Happening;
      at -= share;
    }
    return undefined;
  }

  /** Long polling: each call is a request. */
  private onFetch(): void {
    const send = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      const what = urlOf(input).includes('/deliveries/batch') ? this.happening() : undefined;
      switch (what) {
        case 'twice': {
          const first = send(input, init);
          await send(input, init).catch(() => undefined);
          return first;
        }
        case 'lost':
          throw new TypeError('lost on its way');
        case 'unheard':
          await send(input, init);
          throw new TypeError('its answer was lost');
        case 'late':
          await pause(this.random() * LONGEST_DELAY_MS);
          return send(input, init);
        case 'forged':
          void send(input, {
            ...init,
            body: this.forged(typeof init?.body === 'string' ? init.body : ''),
          }).catch(() => undefined);
          return send(input, init);
        case undefined:
          return send(input, init);
      }
    };
  }

  /** Sessions: each call is a frame. The answer to a second one is to a call that is not open any more. */
  private onSessions(): void {
    const noise = (): Happening | undefined => this.happening();
    const forged = (text: string): string => this.forged(text);
    const delay = (): number => this.random() * LONGEST_DELAY_MS;
    // The SDK calls it with text alone.
    const send = Function.prototype.call.bind(WebSocket.prototype.send) as (
      socket: WebSocket,
      data: string,
    ) => void;
    const trySend = (socket: WebSocket, data: string): void => {
      if (socket.readyState === WebSocket.OPEN) send(socket, data);
    };
    WebSocket.prototype.send = function (this: WebSocket, data: string): void {
      const what = data.includes('"type":"operations"') ? noise() : undefined;
      switch (what) {
        case 'twice':
          send(this, data);
          return send(this, data);
        case 'lost':
        case 'unheard':
          return undefined;
        case 'late':
          setTimeout(() => trySend(this, data), delay());
          return undefined;
        case 'forged':
          // Under a number of its own, so that its answer is not taken for the answer to the true one.
          send(
            this,
            forged(data).replace(/"ref":(\d+)/, (_, ref: string) => `"ref":${Number(ref) + 1e9}`),
          );
          return send(this, data);
        case undefined:
          return send(this, data);
      }
    };
  }

  /** The same words about the delivery before, or the one after. */
  private forged(text: string): string {
    const step = this.random() < 0.5 ? -1 : 1;
    return text.replace(
      DELIVERIES,
      (_, task: string, fence: string) => `"delivery_id":"${task}.${Math.max(1, Number(fence) + step)}"`,
    );
  }
}

function urlOf(input: Parameters<typeof fetch>[0]): string {
  if (typeof input === 'string') return input;
  return input instanceof URL ? input.href : input.url;
}
