import type { z } from 'zod';
import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import { guardedConnect } from '../../platform/outbound/guarded-connect.js';
import { tcpDependency } from '../../registry/dependency.wire.js';
import { attempt } from '../client/attempt.js';
import type { Prober } from '../prober.js';
import { hostPort, keyOfTarget, readTarget, slowMsOf, type Targeted } from './target.js';

type TcpTarget = Targeted<z.output<typeof tcpDependency>>;

/** A connection, and with `tls` a handshake; nothing is sent and nothing is awaited. */
export function tcpProber(guard: AddressGuard): Prober<TcpTarget> {
  return {
    type: 'tcp',
    parse: (declared) => readTarget(tcpDependency, declared),
    keyOf: keyOfTarget,
    hostOf: (t) => hostPort(`tcp://${t.target}`),
    probe: (t, limits, signal) =>
      attempt(limits, slowMsOf(t, limits), signal, async (run) => {
        const { hostname, port } = new URL(`tcp://${t.target}`);
        const target = { host: hostname, port: Number(port), tls: t.options.tls };
        const socket = await guardedConnect(guard, target, limits.connectMs, run.signal);
        run.hold(() => socket.destroy());
        return 'connected';
      }),
  };
}
