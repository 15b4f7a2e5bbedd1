import { addressRanges, choice, into, text } from './kinds.js';

/* Where the dispatcher may connect to on the word of others: probes, pushes, callbacks. */

const outbound = into('Outgoing connections');
export const outboundFields = {
  outboundLoopback: choice(
    outbound(
      'REACH_OUTBOUND_LOOPBACK',
      'Whether probes, pushes and callbacks may go to this machine; auto: only without REDIS_URL',
    ),
    ['auto', 'allow', 'deny'],
    'auto',
  ),
  outboundPrivate: choice(
    outbound(
      'REACH_OUTBOUND_PRIVATE',
      'Whether they may go to private addresses: 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7',
    ),
    ['allow', 'deny'],
    'allow',
  ),
  outboundAllow: addressRanges(
    outbound(
      'REACH_OUTBOUND_ALLOW',
      'Addresses or CIDR ranges, comma separated, that they may go to although it would be denied',
    ),
  ),
  outboundDeny: addressRanges(
    outbound(
      'REACH_OUTBOUND_DENY',
      'Addresses or CIDR ranges, comma separated, that they never go to; link-local addresses and those that hand out credentials of clouds are denied anyway',
    ),
  ),
  credentialsDir: text(
    outbound(
      'REACH_CREDENTIALS_DIR',
      'Folder of the files that dependencies may name as credentials (file:NAME); none: only variables REACH_CREDENTIAL_*',
    ),
    '',
  ),
};
