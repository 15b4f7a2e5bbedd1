import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { FaultProxy } from './fault-proxy.js';

/** An echo behind a proxy. */
describe('fault proxy', () => {
  let server: Server;
  let proxy: FaultProxy;
  let client: Socket;

  beforeEach(async () => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    proxy = await FaultProxy.start(() => (server.address() as AddressInfo).port);
    client = connect(proxy.port, '127.0.0.1');
    client.on('error', () => undefined);
    await once(client, 'connect');
  });

  afterEach(async () => {
    client.destroy();
    await proxy.stop();
    server.close();
  });

  const echo = async (text: string): Promise<string> => {
    let heard = '';
    client.write(text);
    while (heard.length < text.length) heard += String((await once(client, 'data'))[0]);
    return heard;
  };

  test('lets everything through, in order', async () => {
    expect(await echo('one')).toBe('one');
    const long = 'x'.repeat(3_000_000);
    expect(await echo(long)).toHaveLength(long.length);
  });

  test('is slow, and fast again without overtaking', async () => {
    proxy.slow(60);
    const began = performance.now();
    expect(await echo('slow')).toBe('slow');
    expect(performance.now() - began).toBeGreaterThanOrEqual(115);
    const first = echo('firstsecond');
    proxy.slow(0);
    expect(await first).toBe('firstsecond');
  });

  test.each(['there', 'back', 'both'] as const)(
    'holds back what goes %s, and delivers it when it heals',
    async (cut) => {
      await echo('before');
      proxy.cut(cut);
      const answer = echo('held');
      const silent = await Promise.race([
        answer,
        new Promise((resolve) => setTimeout(resolve, 100, 'silence')),
      ]);
      expect(silent).toBe('silence');
      proxy.cut('none');
      expect(await answer).toBe('held');
    },
  );

  test('resets', async () => {
    await echo('before');
    // Not `once`: the reset is an error, and it is what is wanted.
    const closed = new Promise((resolve) => client.once('close', resolve));
    proxy.reset();
    await closed;
  });

  test('a half-open connection stays silent, a new one works', async () => {
    await echo('before');
    proxy.halfOpen();
    client.write('lost');
    const heard = await Promise.race([
      once(client, 'data'),
      once(client, 'close'),
      new Promise((resolve) => setTimeout(resolve, 100, 'silence')),
    ]);
    expect(heard).toBe('silence');
    client.destroy();
    client = connect(proxy.port, '127.0.0.1');
    await once(client, 'connect');
    expect(await echo('anew')).toBe('anew');
  });
});
