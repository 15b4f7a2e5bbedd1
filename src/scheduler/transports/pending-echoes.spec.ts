import { PendingEchoes } from './pending-echoes.js';

const asked = () => {
  const echoes = new PendingEchoes();
  const refs: number[] = [];
  const ask = (timeoutMs: number) => echoes.ask(timeoutMs, (ref) => refs.push(ref));
  return { echoes, refs, ask };
};

test('an answer settles the echo that it names, and no other', async () => {
  const { echoes, refs, ask } = asked();
  const first = ask(60_000);
  const second = ask(60_000);
  echoes.answer({ ref: refs[1] as number, ok: true, echo: 'reachable' });
  expect(await second).toMatchObject({ ok: true, slow: false });
  echoes.answer({ ref: refs[0] as number, ok: false, detail: 'the model is not loaded' });
  expect(await first).toMatchObject({ ok: false, fault: 'wrong_answer', detail: 'the model is not loaded' });
});

test('another word than the expected one is a wrong answer', async () => {
  const { echoes, refs, ask } = asked();
  const echo = ask(60_000);
  echoes.answer({ ref: refs[0] as number, ok: true, echo: 'hello' });
  expect(await echo).toMatchObject({
    ok: false,
    fault: 'wrong_answer',
    detail: 'answered ok: true, echo: hello',
  });
});

test('no answer is a timeout, and a late one is passed over', async () => {
  const { echoes, refs, ask } = asked();
  expect(await ask(1)).toMatchObject({ ok: false, fault: 'total_timeout', detail: 'no echo in 1 ms' });
  expect(() => echoes.answer({ ref: refs[0] as number, ok: true, echo: 'reachable' })).not.toThrow();
});

test('the end of the session ends what waits', async () => {
  const { echoes, ask } = asked();
  const waiting = [ask(60_000), ask(60_000)];
  echoes.close();
  for (const result of await Promise.all(waiting))
    expect(result).toMatchObject({ ok: false, fault: 'closed' });
});
