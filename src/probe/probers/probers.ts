import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import type { Credentials } from '../../platform/outbound/credentials.js';
import type { Prober } from '../prober.js';
import { a2aProber } from './a2a.js';
import { httpProber } from './http.js';
import { redisProber } from './redis.js';
import { postgresProber } from './postgres.js';
import { natsProber } from './nats.js';
import { mysqlProber } from './mysql.js';
import { mcpProber } from './mcp.js';
import { tcpProber } from './tcp.js';

/** Every prober by the type of target that it probes. */
export class Probers {
  private readonly byType: ReadonlyMap<string, Prober<unknown>>;

  constructor(guard: AddressGuard, credentials: Credentials) {
    const probers = [
      a2aProber(guard, credentials),
      httpProber(guard, credentials),
      mcpProber(guard, credentials),
      mysqlProber(guard, credentials),
      natsProber(guard, credentials),
      postgresProber(guard, credentials),
      redisProber(guard, credentials),
      tcpProber(guard),
    ];
    // Each is handed only what its own `parse` returned.
    this.byType = new Map(probers.map((prober) => [prober.type, prober as Prober<unknown>]));
  }

  /** The prober of a type; undefined for one that is not probed over the network (`agent`). */
  get(type: string): Prober<unknown> | undefined {
    return this.byType.get(type);
  }
}
