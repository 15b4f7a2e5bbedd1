/** What the forked processes have in common: their options, answering calls, and ending with their parent. */

/** The options given to `new Role(name, options)`. */
export const options = JSON.parse(process.argv[2]);

/** Answers the parent's calls by these methods. */
export function serveRole(methods) {
  process.on('message', async ({ id, method, argument }) => {
    try {
      const value = await methods[method](argument);
      if (id !== undefined) process.send({ id, value });
    } catch (error) {
      if (id === undefined) process.stderr.write(`${error.stack}\n`);
      else process.send({ id, error: error.stack });
    }
  });
  process.on('disconnect', () => process.exit(0));
}

/** Says something to the parent. */
export function say(topic, value) {
  if (process.connected) process.send({ topic, value }, () => undefined);
}

/** Tells the parent how many tasks have ended, often enough to keep a bounded backlog. */
export function reportDone(count) {
  let last = -1;
  setInterval(() => {
    const now = count();
    if (now !== last) say('done', (last = now));
  }, 5);
}

/** Microseconds of the clock that all processes of this machine share. */
export const sharedClockUs = () => Number(process.hrtime.bigint() / 1000n);

/** A payload whose JSON is about `bytes` long. */
export function payloadOf(bytes) {
  const payload = {
    repo: 'acme/widgets',
    ref: 'a1b2c3d4e5f6a7b8',
    files: ['src/a.ts', 'src/b.ts'],
    prompt: '',
  };
  const text = 'Review the change for correctness and style; list concrete issues with line numbers. ';
  const missing = Math.max(0, bytes - JSON.stringify(payload).length);
  payload.prompt = text.repeat(Math.ceil(missing / text.length)).slice(0, missing);
  return payload;
}
