import { ReachError } from '../core/errors.js';
import { TokenAuthenticator } from './token-authenticator.js';

const first = 'first-token-0123456789';
const second = 'second-token-0123456789';

describe('TokenAuthenticator', () => {
  test('lets everyone in while no token is configured', () => {
    expect(new TokenAuthenticator({ authTokens: [] }).authenticate({})).toBe('anonymous');
  });

  const guarded = new TokenAuthenticator({ authTokens: [first, second] });

  test('any of the tokens is good; each has a name of its own that does not reveal it', () => {
    const a = guarded.authenticate({ authorization: `Bearer ${first}` });
    const b = guarded.authenticate({ authorization: `bearer  ${second}` });
    expect(a).not.toBe(b);
    expect(a).not.toContain('first');
  });

  test.each([
    undefined,
    '',
    'Bearer',
    `Basic ${first}`,
    `Bearer ${first}x`,
    `Bearer ${first.slice(1)}`,
    `Bearer ${first},${second}`,
  ])('refuses %s', (authorization) => {
    const call = () => guarded.authenticate(authorization === undefined ? {} : { authorization });
    expect(call).toThrow(ReachError);
    expect(call).not.toThrow(/first-token/);
  });
});
