import type { ProbeResult } from '../../core/probe-result.js';
import { truncate } from '../../core/text.js';

/** What the agent answers. */
export interface EchoAnswer {
  ref: number;
  ok: boolean;
  echo?: string | undefined;
  detail?: string | undefined;
}

interface Pending {
  askedAt: number;
  timer: NodeJS.Timeout;
  settle: (result: ProbeResult) => void;
}

const EXPECTED = 'reachable';
const DETAIL_LIMIT = 500;

/** The echoes of one session that wait for their answers. Each ends by its timeout, or with the session. */
export class PendingEchoes {
  private readonly pending = new Map<number, Pending>();
  private nextRef = 0;

  /** Asks by `send`, under a `ref` that the answer will carry. Never rejects. */
  ask(timeoutMs: number, send: (ref: number) => void): Promise<ProbeResult> {
    const ref = this.nextRef++;
    return new Promise((resolve) => {
      const askedAt = performance.now();
      const settle = (result: ProbeResult): void => {
        clearTimeout(timer);
        this.pending.delete(ref);
        resolve(result);
      };
      const timer = setTimeout(
        () =>
          settle({
            ok: false,
            fault: 'total_timeout',
            latencyMs: timeoutMs,
            detail: `no echo in ${timeoutMs} ms`,
          }),
        timeoutMs,
      );
      this.pending.set(ref, { askedAt, timer, settle });
      send(ref);
    });
  }

  /** An answer came. One that nobody waits for (any more) is passed over. */
  answer({ ref, ok, echo, detail }: EchoAnswer): void {
    const pending = this.pending.get(ref);
    if (pending === undefined) return;
    const latencyMs = performance.now() - pending.askedAt;
    if (ok && echo === EXPECTED) return pending.settle({ ok: true, latencyMs, slow: false });
    const said = detail === undefined ? `answered ok: ${ok}, echo: ${echo ?? '(none)'}` : detail;
    pending.settle({ ok: false, fault: 'wrong_answer', latencyMs, detail: truncate(said, DETAIL_LIMIT) });
  }

  /** The session is over: nobody will answer. */
  close(): void {
    for (const { askedAt, settle } of [...this.pending.values()]) {
      const latencyMs = performance.now() - askedAt;
      settle({ ok: false, fault: 'closed', latencyMs, detail: 'the session closed before the echo came' });
    }
  }
}
