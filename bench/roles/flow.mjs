import { sharedClockUs } from './role.mjs';

const NAP_MS = 1;

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

  constructor(submit, { callers, batch, backlog }) {
    this.submit = submit;
    Object.assign(this, { callers, batch, backlog });
  }

  /** Tasks done so far, as the consumers say. */
  setDone(done) {
    this.#done = done;
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
    await Promise.all(this.#loops);
    return { sent: this.sent, refused: this.refused };
  }

  async #caller() {
    while (this.#going) {
      if (this.sent - this.#done >= this.backlog) await new Promise((resolve) => setTimeout(resolve, NAP_MS));
      else await this.#one();
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
