import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/*
 * Everything started here ends with this process, however it ends: servers stand behind a shell that kills
 * them as soon as the pipe to us closes, and roles exit when their channel does.
 */

const GUARD = '"$@" </dev/null & echo "pid $!"; cat >/dev/null; kill -KILL $! 2>/dev/null; wait';

const enders = new Set();
let ending;

/** Registers what `endAll` has to do; returns a function that does it now, once. */
export function onEnd(end) {
  const endNow = () => (enders.delete(endNow) ? end() : undefined);
  enders.add(endNow);
  return endNow;
}

/** Ends all that was started, latest first. */
export function endAll() {
  ending ??= (async () => {
    for (const end of [...enders].reverse()) {
      try {
        await end();
      } catch (error) {
        process.stderr.write(`while ending: ${error.message}\n`);
      }
    }
  })();
  return ending;
}

/** Ctrl-C and SIGTERM end what was started and then this process. */
export function endOnSignals() {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]) {
    process.once(signal, () => void endAll().then(() => process.exit(code)));
  }
}

/**
 * Starts a server and waits for the line that says it is ready.
 *
 * @param ready gets each line of its output; what it returns (other than undefined) is the result's `value`
 * @returns {Promise<{pid: number, value: unknown, lines: string[], end: () => Promise<void>}>}
 */
export async function startServer(command, args, { ready, env = {}, timeoutMs = 60_000 }) {
  const child = spawn('sh', ['-c', GUARD, 'sh', command, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const lines = [];
  let pid;
  const value = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${command}: not ready in time`)), timeoutMs);
    timer.unref();
    const look = (line) => {
      lines.push(line);
      if (lines.length > 200) lines.shift();
      pid ??= Number(/^pid (\d+)$/.exec(line)?.[1]) || undefined;
      const found = ready(line);
      if (found !== undefined) resolve(found);
    };
    createInterface({ input: child.stdout }).on('line', look);
    createInterface({ input: child.stderr }).on('line', look);
    child.once('close', () => reject(new Error(`${command} ended:\n${lines.slice(-20).join('\n')}`)));
  }).catch((error) => {
    child.stdin.end();
    throw error;
  });
  const end = onEnd(async () => {
    if (child.exitCode !== null) return;
    const closed = once(child, 'close');
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // Gone already; the shell still has to be told.
    }
    const gone = await untilGone(pid, 10_000);
    if (!gone) process.stderr.write(`${command} does not stop; killed\n`);
    child.stdin.end();
    await closed;
  });
  return { pid, value, lines, end };
}

async function untilGone(pid, withinMs) {
  for (const start = performance.now(); performance.now() - start < withinMs;) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

/** A forked role of ./roles: it answers calls over its channel. */
export class Role {
  #child;
  #calls = new Map();
  #next = 0;
  #listeners = new Map();
  #end;

  constructor(name, options) {
    const file = new URL(`../roles/${name}.mjs`, import.meta.url);
    this.name = name;
    this.#child = fork(file, [JSON.stringify(options)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child.on('message', (message) => this.#heard(message));
    this.#child.on('exit', (code, signal) => {
      const error = new Error(`${name} ended early (${signal ?? code})`);
      for (const { reject } of this.#calls.values()) reject(error);
      this.#calls.clear();
    });
    this.#end = onEnd(() => this.#child.kill('SIGKILL'));
  }

  get pid() {
    return this.#child.pid;
  }

  /** Calls a method of the role. */
  call(method, argument) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      if (!this.#child.connected) return reject(new Error(`${this.name} is gone`));
      this.#calls.set(id, { resolve, reject });
      this.#child.send({ id, method, argument });
    });
  }

  /** Tells the role something without waiting. */
  tell(method, argument) {
    if (this.#child.connected) this.#child.send({ method, argument }, () => undefined);
  }

  /** `listener` gets what the role says under `topic`. */
  on(topic, listener) {
    this.#listeners.set(topic, listener);
  }

  /** Lets the role end; kills it if it does not. */
  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
    await exited;
    clearTimeout(timer);
    this.#end();
  }

  #heard({ id, value, error, topic }) {
    if (topic !== undefined) return this.#listeners.get(topic)?.(value);
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new Error(`${this.name}: ${error}`));
  }
}
