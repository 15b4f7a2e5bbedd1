import { sharedClockUs } from './role.mjs';

/**
 * Submits tasks: as fast as it goes with `callers` in flight and at most `backlog` not yet done, or at a fixed
 * rate. `submit(count, stampUs)` hands in `count` tasks and throws when they were not taken.
 */
export class Flow {
  sent = 0;
  refused = 0;
  #done = 0;
  #going = true;
  #loops = [];
  /** Callers that wait for room in the backlog: told of it, as asking again and again would cost more than the work. */
  #waiting = [];

  constructor(submit, { callers, batch, backlog }) {
    this.submit = submit;
    Object.assign(this, { callers, batch, backlog });
  }

  /** Tasks done so far, as the consumers say. */
  setDone(done) {
    this.#done = done;
    for (let room = this.#room; room > 0 && this.#waiting.length > 0; room -= this.batch)
      this.#waiting.shift()();
  }

  get #room() {
    return this.backlog - (this.sent - this.#done);
  }

  saturate() {
    for (let n = 0; n < this.callers; n++) this.#loops.push(this.#caller());
  }

  /** Open loop: the moments are fixed beforehand, and lateness counts as latency. */
  pace(ratePerSecond) {
    const startUs = sharedClockUs();
    const gapUs = 1e6 / ratePerSecond;
    let number = 0;
    const timer = setInterval(() => {
      if (!this.#going) return clearInterval(timer);
      for (let dueUs; (dueUs = startUs + number * gapUs) <= sharedClockUs(); number++) {
        const call = this.#one(Math.round(dueUs)).finally(() =>
          this.#loops.splice(this.#loops.indexOf(call), 1),
        );
        this.#loops.push(call);
      }
    }, 1);
  }

  /** Stops submitting; resolves when every submission is answered. */
  async stop() {
    this.#going = false;
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all(this.#loops);
    return { sent: this.sent, refused: this.refused };
  }

  async #caller() {
    while (this.#going) {
      if (this.#room > 0) await this.#one();
      else await new Promise((resolve) => this.#waiting.push(resolve));
    }
  }

  async #one(stampUs) {
    // Counted before the answer, as the consumers may be faster than it.
    this.sent += this.batch;
    try {
      await this.submit(this.batch, stampUs);
    } catch (error) {
      this.sent -= this.batch;
      if (this.refused++ === 0) process.stderr.write(`first refusal: ${error.message}\n`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
