import { a2aProber, cardOf } from '../../src/probe/probers/a2a.js';
import { noCredentials, openGuard, probeOnce } from '../support/probing.js';
import { type Answer, json, serving } from '../support/rpc-server.js';

describe('A2A', () => {
  const prober = a2aProber(openGuard, noCredentials);
  const ask = (url: string) => probeOnce(prober, { target: url });

  it.each([
    ['https://a.test', 'https://a.test/.well-known/agent-card.json'],
    ['https://a.test/agents/one/', 'https://a.test/agents/one/.well-known/agent-card.json'],
    ['https://a.test/cards/one.json', 'https://a.test/cards/one.json'],
  ])('looks for the card of %s', (target, card) => expect(cardOf(target)).toBe(card));

  it.each([
    ['before 1.0', { name: 'Translator', url: 'https://a.test/a2a', protocolVersion: '0.3.0' }],
    ['since 1.0', { name: 'Translator', supportedInterfaces: [{ url: 'https://a.test/a2a' }] }],
  ])('knows a card as they were %s', (_, card) =>
    serving(
      (call, res) => json(res, card, {}, call.path === '/.well-known/agent-card.json' ? 200 : 404),
      async (url) => expect(await ask(url)).toMatchObject({ ok: true, detail: 'card of Translator' }),
    ),
  );

  it.each<[string, Answer, string]>([
    ['404', (_, res) => res.writeHead(404).end(), 'contract'],
    ['403', (_, res) => res.writeHead(403).end(), 'unauthorized'],
    ['a page', (_, res) => res.end('<html>'), 'wrong_answer'],
    ['null', (_, res) => res.end('null'), 'wrong_answer'],
    ['a card without a place', (_, res) => json(res, { name: 'x' }), 'wrong_answer'],
  ])('fails at %s', (_, answer, fault) =>
    serving(answer, async (url) => expect(await ask(url)).toMatchObject({ ok: false, fault })),
  );
});
