import { Output } from './output.js';
import { watch } from './watch.js';

/** A terminal that remembers what was written to it. */
function terminal(isTTY = true): { out: Output; written: string[] } {
  const written: string[] = [];
  const stream = { isTTY, columns: 80, write: (text: string) => written.push(text) };
  return { out: new Output(false, stream as unknown as NodeJS.WriteStream), written };
}

const CLEAR = '\u001b[H\u001b[2J';

/** Pauses so often, then ends the watching. */
function times(n: number): () => Promise<void> {
  return () => (n-- > 1 ? Promise.resolve() : Promise.reject(new Error('enough')));
}

test('each look replaces the one before at once, and a failure is told beneath the last one', async () => {
  const { out, written } = terminal();
  const looks = ['one', 'fails', 'fails', 'four'];
  const show = async () => {
    const look = looks.shift() ?? '';
    out.line('a head');
    await Promise.resolve();
    if (look === 'fails') throw new TypeError('http:nowhere is not a URL');
    out.line(look);
  };
  await expect(watch(out, 2, show, times(4))).rejects.toThrow('enough');
  expect(written).toHaveLength(4);
  expect(written[0]).toBe(`${CLEAR}a head\none\n`);
  expect(written[1]).toMatch(/^\S+a head\none\n\nas of \S+; since then: http:nowhere is not a URL\n$/);
  expect(written[2]).toBe(written[1]);
  expect(written[3]).toBe(`${CLEAR}a head\nfour\n`);
});

test('what fails at first ends it, and so does a pipe', async () => {
  const failing = () => Promise.reject(new Error('no centre'));
  await expect(watch(terminal().out, 2, failing, times(2))).rejects.toThrow('no centre');
  await expect(watch(terminal(false).out, 2, () => Promise.resolve())).rejects.toThrow('for terminals');
});
