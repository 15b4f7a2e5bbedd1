import { createServer, type AddressInfo } from 'node:net';
import { ConfigError } from './platform/config/config.js';
import { StartError } from './platform/lifecycle/start-error.js';
import { explainListenError, startFailure } from './start-failure.js';

/** The error of really listening there. */
function listenError(host: string, port: number): Promise<unknown> {
  return new Promise((resolve) => createServer().once('error', resolve).listen(port, host));
}

describe('startFailure', () => {
  test('tells what is expected in one sentence, and what is not with its stack, once', () => {
    expect(startFailure(new StartError('it is taken', { cause: new Error('x') }))).toEqual({
      message: 'it is taken',
      exitCode: 1,
    });
    expect(startFailure(new ConfigError(['X is bad'])).exitCode).toBe(2);
    const { message, exitCode } = startFailure(new TypeError('a bug'));
    expect(message.match(/a bug/g)).toHaveLength(1);
    expect(message).toContain('start-failure.spec');
    expect(exitCode).toBe(1);
    expect(startFailure('text').message).toBe('text');
  });
});

describe('explainListenError', () => {
  test('names the port that is taken and the setting', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const explained = explainListenError(await listenError('127.0.0.1', port), '127.0.0.1', port);
    await new Promise((resolve) => taken.close(resolve));
    expect(explained).toBeInstanceOf(StartError);
    expect((explained as Error).message).toMatch(new RegExp(`^Port ${port} of 127.0.0.1 .*REACH_HTTP_PORT`));
  });

  test('names the address that is not of this machine; the rest is passed through', async () => {
    const explained = explainListenError(await listenError('192.0.2.1', 0), '192.0.2.1', 0);
    expect((explained as Error).message).toContain('REACH_HTTP_HOST');
    const other = new Error('other');
    expect(explainListenError(other, '127.0.0.1', 1)).toBe(other);
  });
});
