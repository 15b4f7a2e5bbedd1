import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A range of addresses in CIDR notation, read. */
export interface Cidr {
  readonly text: string;
  readonly base: Address;
  readonly bits: number;
}

/** Where connections may go. Whatever is in `deny` is refused, then whatever is in `allow` is not. */
export interface AddressPolicy {
  readonly loopback: boolean;
  /** RFC 1918, unique local IPv6 and the shared range of RFC 6598. */
  readonly private: boolean;
  readonly allow: readonly Cidr[];
  readonly deny: readonly Cidr[];
}

export type AddressVerdict = { allowed: true } | { allowed: false; reason: string };

/**
 * Reads `10.0.0.0/8`, `fd00::/8` or a single address. Only the usual ways to write one: `10.1` or `0x7f.1`
 * mean different things to different readers.
 */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', bits, ...rest] = text.trim().split('/');
  const base = parseAddress(address);
  if (base === undefined || rest.length > 0) return undefined;
  const most = base.kind() === 'ipv4' ? 32 : 128;
  if (bits !== undefined && !/^\d{1,3}$/.test(bits)) return undefined;
  const length = bits === undefined ? most : Number(bits);
  return length > most ? undefined : { text: text.trim(), base, bits: length };
}

/** Services of clouds that hand out credentials to whoever asks from inside. */
const METADATA = [
  '169.254.169.254', // AWS, Azure, Google and most others
  '169.254.170.2', // AWS, containers
  '169.254.170.23', // AWS, pods
  'fd00:ec2::254', // AWS
  'fd00:ec2::23', // AWS, pods
  'fd20:ce::254', // Google
  '100.100.100.200', // Alibaba
  '168.63.129.16', // Azure
  '192.0.0.192', // Oracle
  'fd00:42::42', // Scaleway
].map(known);

/** IPv6 that translators turn into the IPv4 address in its last 32 bits (RFC 6052). */
const NAT64 = known('64:ff9b::/96');
/** RFC 4291, deprecated: `::1.2.3.4`. The two addresses that are no such thing come before it. */
const IPV4_COMPATIBLE = known('::/96');

/**
 * Whether a connection may be made to an address that a name was resolved to (a textual IPv4 or IPv6 address
 * as the system gives it). An IPv4 address inside an IPv6 one is judged as itself. What is no address is
 * refused.
 */
export function judgeAddress(text: string, policy: AddressPolicy): AddressVerdict {
  const written = parseAddress(text);
  if (written === undefined) return { allowed: false, reason: 'it is not an IP address' };
  const address = reached(written);
  const among = (list: readonly Cidr[]) =>
    list.find((cidr) => contains(cidr, address) || contains(cidr, written));
  const denied = among(policy.deny);
  if (denied) return { allowed: false, reason: `${denied.text} is denied by REACH_OUTBOUND_DENY` };
  if (among(policy.allow)) return { allowed: true };
  return byRange(address, policy);
}

function byRange(address: Address, policy: AddressPolicy): AddressVerdict {
  if (METADATA.some((cidr) => contains(cidr, address)))
    return { allowed: false, reason: 'it hands out credentials of a cloud' };
  const range = rangeOf(address);
  switch (range) {
    case 'unicast':
      return { allowed: true };
    case 'loopback':
      if (policy.loopback) return { allowed: true };
      return { allowed: false, reason: 'it is this machine (see REACH_OUTBOUND_LOOPBACK)' };
    case 'private':
    case 'uniqueLocal':
    case 'carrierGradeNat':
      if (policy.private) return { allowed: true };
      return { allowed: false, reason: 'it is in a private range (see REACH_OUTBOUND_PRIVATE)' };
    default:
      return {
        allowed: false,
        reason: `its range, ${range}, is not one to connect to (see REACH_OUTBOUND_ALLOW)`,
      };
  }
}

function rangeOf(address: Address): string {
  const range: string = address.range();
  const special = range === 'unspecified' || range === 'loopback';
  return !special && contains(IPV4_COMPATIBLE, address) ? 'ipv4Compatible' : range;
}

/** The address that packets end at: the IPv4 address inside a mapped or translated IPv6 one. */
function reached(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (contains(NAT64, address)) return new ipaddr.IPv4(address.toByteArray().slice(12));
  return address;
}

function contains(cidr: Cidr, address: Address): boolean {
  return cidr.base.kind() === address.kind() && address.match(cidr.base, cidr.bits);
}

function parseAddress(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
}

function known(text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new Error(`${text} is not an address range`);
  return cidr;
}
