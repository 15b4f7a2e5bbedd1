import fc from 'fast-check';
import { type AddressPolicy, type Cidr, judgeAddress, parseCidr } from './address-policy.js';

const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
};
const CLOSED: AddressPolicy = { loopback: false, private: false, allow: [], deny: [] };
const OPEN: AddressPolicy = { loopback: true, private: true, allow: [], deny: [] };
const allowed = (address: string, policy: AddressPolicy) => judgeAddress(address, policy).allowed;

it.each(['93.184.216.34', '1.1.1.1', '2606:4700:4700::1111', '64:ff9b::5db8:d822', '::ffff:93.184.216.34'])(
  'lets public addresses through: %s',
  (address) => expect(judgeAddress(address, CLOSED)).toEqual({ allowed: true }),
);

it.each([
  '127.0.0.1',
  '127.8.8.8',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::127.0.0.1',
  '::127.0.0.1',
])('takes %s for this machine', (address) => {
  expect(judgeAddress(address, CLOSED)).toEqual({
    allowed: false,
    reason: 'it is this machine (see REACH_OUTBOUND_LOOPBACK)',
  });
  expect(allowed(address, OPEN)).toBe(true);
});

it.each([
  '10.0.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  'fd12::1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
])('takes %s for private', (address) => {
  expect(judgeAddress(address, CLOSED)).toMatchObject({
    reason: expect.stringContaining('REACH_OUTBOUND_PRIVATE'),
  });
  expect(allowed(address, OPEN)).toBe(true);
});

it.each([
  ['169.254.169.254', 'credentials of a cloud'],
  ['::ffff:169.254.169.254', 'credentials of a cloud'],
  ['64:ff9b::a9fe:a9fe', 'credentials of a cloud'],
  ['168.63.129.16', 'credentials of a cloud'],
  ['100.100.100.200', 'credentials of a cloud'],
  ['fd00:ec2::254', 'credentials of a cloud'],
  ['169.254.1.1', 'linkLocal'],
  ['fe80::1', 'linkLocal'],
  ['fe80::1%eth0', 'linkLocal'],
  ['fec0::1', 'deprecatedSiteLocal'],
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['::', 'unspecified'],
  ['255.255.255.255', 'broadcast'],
  ['224.0.0.1', 'multicast'],
  ['ff02::1', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['::7f00:1', 'ipv4Compatible'],
  ['2002:7f00:1::', '6to4'],
  ['2001:0:7f00:1::', 'teredo'],
  ['64:ff9b:1::7f00:1', 'rfc6052'],
  ['::ffff:0:127.0.0.1', 'rfc6145'],
])('never goes to %s (%s), however open', (address, why) => {
  expect(judgeAddress(address, OPEN)).toMatchObject({ allowed: false, reason: expect.stringContaining(why) });
});

it.each([
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '127.0.0.01',
  'localhost',
  '',
  '127.0.0.1 ',
  '[::1]',
])('refuses what is no address as the system writes one: %p', (text) =>
  expect(judgeAddress(text, OPEN)).toEqual({ allowed: false, reason: 'it is not an IP address' }),
);

it('lets the allow list open what is closed, and the deny list close what is open', () => {
  const policy = {
    ...CLOSED,
    allow: [cidr('10.1.0.0/16'), cidr('169.254.169.254')],
    deny: [cidr('10.1.2.0/24'), cidr('93.184.216.34'), cidr('2606:4700::/32')],
  };
  expect(allowed('10.1.1.1', policy)).toBe(true);
  expect(allowed('::ffff:10.1.1.1', policy)).toBe(true);
  expect(allowed('10.2.1.1', policy)).toBe(false);
  expect(allowed('169.254.169.254', policy)).toBe(true);
  expect(judgeAddress('10.1.2.3', policy)).toEqual({
    allowed: false,
    reason: '10.1.2.0/24 is denied by REACH_OUTBOUND_DENY',
  });
  expect(allowed('64:ff9b::5db8:d822', policy)).toBe(false);
  expect(allowed('2606:4700::1', policy)).toBe(false);
});

it('denies an address in whatever IPv6 form it hides', () => {
  const form = fc.constantFrom(
    (hex: string) => `::ffff:${hex}`,
    (hex: string) => `64:ff9b::${hex}`,
    (hex: string) => `::${hex}`,
    (hex: string) => `2002:${hex}::`,
    (hex: string) => `::ffff:0:${hex}`,
  );
  const inside = fc
    .constantFrom([127, 8], [10, 8], [169.254, 16])
    .chain(([first]) =>
      fc
        .tuple(fc.nat(255), fc.nat(255), fc.integer({ min: 1, max: 255 }))
        .map(([b, c, d]) => (first === 169.254 ? [169, 254, c, d] : [first as number, b, c, d])),
    );
  fc.assert(
    fc.property(form, inside, (write, [a = 0, b = 0, c = 0, d = 0]) => {
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
      expect(allowed(write(hex), CLOSED)).toBe(false);
    }),
  );
});

it.each([
  '10.0.0.0/33',
  'fd00::/129',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0/8',
  '0x0a.0.0.0/8',
  'db.internal',
  '',
])('does not read %p as a range', (text) => expect(parseCidr(text)).toBeUndefined());
