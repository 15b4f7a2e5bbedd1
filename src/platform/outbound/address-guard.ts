import { isIP } from 'node:net';
import { type AddressPolicy, type Cidr, judgeAddress, parseCidr } from '../../core/address-policy.js';
import type { Config } from '../config/config.js';
import { ConnectError } from './connect-error.js';
import { Lookups } from './lookups.js';

/** More addresses of one name are not tried. */
const MOST_ADDRESSES = 8;

/**
 * Says which addresses a host may be connected at: the name is resolved first, each address is judged, and
 * the caller connects to what was judged. A name that changes its mind in between gains nothing.
 */
export class AddressGuard {
  constructor(
    private readonly policy: AddressPolicy,
    private readonly lookups: Lookups = new Lookups(),
  ) {}

  /**
   * Allowed addresses of a host (a name, an IPv4 address, or an IPv6 address with or without brackets), in the
   * order in which they should be tried; at least one.
   *
   * @throws ConnectError `dns`, `misconfigured` or `address_denied`; the reason of `signal` when it aborts
   */
  async addressesOf(host: string, signal: AbortSignal): Promise<readonly string[]> {
    const bare = bareHost(host);
    const found = isIP(bare) === 0 ? await this.lookups.addresses(bare, signal) : [bare];
    const verdicts = found.map((address) => ({ address, verdict: judgeAddress(address, this.policy) }));
    const allowed = verdicts.filter(({ verdict }) => verdict.allowed).map(({ address }) => address);
    if (allowed.length > 0) return allowed.slice(0, MOST_ADDRESSES);
    const [first] = verdicts;
    if (first === undefined) throw new ConnectError('dns', `${bare} has no address`);
    const reason = first.verdict.allowed ? '' : first.verdict.reason;
    const which = first.address === bare ? bare : `${bare} (${first.address})`;
    throw new ConnectError('address_denied', `${which} must not be connected to: ${reason}`);
  }
}

/** `[::1]` as `::1`. */
export function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/** The policy that the configuration asks for. */
export function policyOf(
  config: Pick<
    Config,
    'outboundLoopback' | 'outboundPrivate' | 'outboundAllow' | 'outboundDeny' | 'redisUrl'
  >,
): AddressPolicy {
  const ranges = (list: readonly string[]) =>
    list.map(parseCidr).filter((cidr): cidr is Cidr => cidr !== undefined);
  // Several replicas are on several machines, and each has another "this machine".
  const alone = config.redisUrl === undefined;
  return {
    loopback: config.outboundLoopback === 'auto' ? alone : config.outboundLoopback === 'allow',
    private: config.outboundPrivate === 'allow',
    allow: ranges(config.outboundAllow),
    deny: ranges(config.outboundDeny),
  };
}
