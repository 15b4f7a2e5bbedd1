import { newId } from '../../platform/ids.js';
import type { Config } from '../../platform/config/config.js';
import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import type { Shutdown } from '../../platform/lifecycle/shutdown.js';
import type { OfferWriter } from './offer-writer.js';
import type { Offered } from './offered.js';
import { type PushAnswer, PushTransport } from './push.js';

test('a task that has to have started is not sent: nothing began, for sure', async () => {
  const config = { connectTimeoutMs: 1000, firstByteTimeoutMs: 1000 } as Config;
  const shutdown = { on: () => undefined } as unknown as Shutdown;
  const push = new PushTransport(config, {} as AddressGuard, shutdown, {} as OfferWriter);
  const offered = {
    deliveryId: `${newId()}.1`,
    endpoint: 'http://127.0.0.1:9/',
    ackUntil: performance.now() + 1000,
    frame: { start_in_ms: 10, end_in_ms: null, read_at: performance.now() - 11 },
  } as unknown as Offered;
  const answer = new Promise<PushAnswer>((resolve) => push.connect(async (_, answered) => resolve(answered)));
  push.deliver(offered);
  expect(await answer).toMatchObject({
    kind: 'failed',
    sent: false,
    detail: expect.stringContaining('started'),
  });
});
