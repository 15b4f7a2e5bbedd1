import { once } from 'node:events';
import WebSocket from 'ws';

/** The CPU profiler of another Node process, over its inspector. */
export class Profiler {
  #socket;
  #calls = new Map();
  #next = 1;

  static async attach(url) {
    const profiler = new Profiler();
    profiler.#socket = new WebSocket(url, { maxPayload: 2 ** 30 });
    profiler.#socket.on('message', (data) => {
      const { id, result } = JSON.parse(data);
      profiler.#calls.get(id)?.(result);
      profiler.#calls.delete(id);
    });
    await once(profiler.#socket, 'open');
    return profiler;
  }

  async start() {
    await this.#call('Profiler.enable');
    await this.#call('Profiler.setSamplingInterval', { interval: 500 });
    await this.#call('Profiler.start');
  }

  /** Ends the recording. */
  async stop() {
    const { profile } = await this.#call('Profiler.stop');
    this.#socket.close();
    return profile;
  }

  #call(method, params = {}) {
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#calls.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}

/**
 * Self time by function, by package, and by the function of our own (or of a package) nearest above it on the
 * stack, as shares of the time the process was not idle.
 */
export function summarise(profile, limit = 40) {
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((id) => [id, node])));
  const functions = new Map();
  const callers = new Map();
  const packages = new Map();
  let busyUs = 0;
  let idleUs = 0;
  profile.samples.forEach((id, at) => {
    const us = profile.timeDeltas[at];
    const { functionName, url } = byId.get(id).callFrame;
    if (functionName === '(idle)') return void (idleUs += us);
    busyUs += us;
    const place = placeOf(url, functionName);
    const name = nameOf(byId.get(id).callFrame);
    functions.set(name, (functions.get(name) ?? 0) + us);
    packages.set(place, (packages.get(place) ?? 0) + us);
    const caller = ownCaller(byId.get(id), parents);
    callers.set(caller, (callers.get(caller) ?? 0) + us);
  });
  const top = (map, most) =>
    [...map]
      .sort((a, b) => b[1] - a[1])
      .slice(0, most)
      .map(([name, us]) => ({ name, share: Math.round((us / busyUs) * 1000) / 1000 }));
  return {
    busyMs: Math.round(busyUs / 1000),
    idleMs: Math.round(idleUs / 1000),
    packages: top(packages, 30),
    callers: top(callers, limit),
    functions: top(functions, limit),
  };
}

function nameOf({ functionName, url, lineNumber }) {
  return `${functionName || '(anonymous)'} ${url ? `${shortUrl(url)}:${lineNumber + 1}` : ''}`.trim();
}

function ownCaller(node, parents) {
  for (let at = node; at; at = parents.get(at.id)) {
    const { url } = at.callFrame;
    if (url && !url.startsWith('node:')) return nameOf(at.callFrame);
  }
  return `(only the runtime) ${nameOf(node.callFrame)}`;
}

function placeOf(url, functionName) {
  if (functionName === '(garbage collector)') return '(garbage collector)';
  if (!url) return '(native)';
  if (url.startsWith('node:')) return url.replace(/^(node:(internal\/)?[^/]+).*/, '$1');
  const inModules = url.split('/node_modules/');
  if (inModules.length > 1 && !/^\.cache\//.test(inModules.at(-1))) {
    return /^(@[^/]+\/[^/]+|[^/]+)/.exec(inModules.at(-1))[0];
  }
  return `src/${/\/(core|platform\/[^/]+|security|registry|scheduler\/transports|scheduler|observatory|probe|gateway)\//.exec(url)?.[1] ?? ''}`;
}

function shortUrl(url) {
  const [, last] = /.*node_modules\/(?!\.cache)(.*)$/.exec(url) ?? [];
  return last ?? url.split('/').slice(-3).join('/');
}
