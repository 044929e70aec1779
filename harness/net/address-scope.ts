/** What kind of place an address is. */
import { BlockList, isIP } from 'node:net';
import { embeddedIpv4 } from './embedded-ipv4.ts';

/**
 * `metadata`: where a machine of a cloud finds its own credentials. `special`: no host of the Internet has it (unspecified, multicast,
 * broadcast, documentation, benchmarks, reserved). Carrier-grade NAT counts as `private`.
 */
export type AddressScope = 'public' | 'loopback' | 'private' | 'link-local' | 'metadata' | 'special';

/** Made when the first address is looked at: it takes milliseconds, and most commands look at none. */
function list(...nets: readonly (readonly [net: string, prefix: number])[]): () => BlockList {
  let made: BlockList | undefined;
  return () => {
    if (made !== undefined) return made;
    made = new BlockList();
    for (const [net, prefix] of nets) made.addSubnet(net, prefix, isIP(net) === 6 ? 'ipv6' : 'ipv4');
    return made;
  };
}

/** The registries of special addresses, RFC 6890 and its successors, and what the clouds document. The first that holds an address counts. */
const SCOPES: readonly (readonly [AddressScope, () => BlockList])[] = [
  [
    'metadata',
    list(
      ['169.254.169.254', 32],
      // Credentials of containers: ECS and EKS.
      ['169.254.170.2', 32],
      ['169.254.170.23', 32],
      ['fd00:ec2::', 64],
      // Alibaba, Oracle and the host of a machine on Azure.
      ['100.100.100.200', 32],
      ['192.0.0.192', 32],
      ['168.63.129.16', 32],
      // Google and Scaleway over IPv6.
      ['fd20:ce::254', 128],
      ['fd00:42::42', 128],
    ),
  ],
  ['loopback', list(['127.0.0.0', 8], ['::1', 128])],
  // Shared address space (RFC 6598) stands between a provider and its customers: no more reachable than private. fec0::/10 was private once.
  [
    'private',
    list(['10.0.0.0', 8], ['172.16.0.0', 12], ['192.168.0.0', 16], ['100.64.0.0', 10], ['fc00::', 7], ['fec0::', 10]),
  ],
  ['link-local', list(['169.254.0.0', 16], ['fe80::', 10])],
  [
    'special',
    list(
      ['0.0.0.0', 8],
      ['192.0.0.0', 24],
      ['192.0.2.0', 24],
      ['192.88.99.0', 24],
      ['198.18.0.0', 15],
      ['198.51.100.0', 24],
      ['203.0.113.0', 24],
      // Multicast, reserved and broadcast.
      ['224.0.0.0', 3],
      ['::', 128],
      // NAT64 for use within a network (RFC 8215), which may lead anywhere in it.
      ['64:ff9b:1::', 48],
      ['100::', 64],
      ['2001:2::', 48],
      ['2001:10::', 28],
      ['2001:20::', 28],
      ['2001:db8::', 32],
      ['3fff::', 20],
      ['5f00::', 16],
      ['ff00::', 8],
    ),
  ],
];

/** From the harmless to what nobody may be led to. */
const BY_DANGER: readonly AddressScope[] = ['public', 'private', 'loopback', 'special', 'link-local', 'metadata'];

function ownScope(address: string): AddressScope {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  return SCOPES.find(([, nets]) => nets().check(address, family))?.[0] ?? 'public';
}

/** The scope of an address, with or without a zone. One that holds an IPv4 address counts as that, when that is the more dangerous. */
export function scopeOf(address: string): AddressScope {
  const [plain = ''] = address.split('%');
  const inside = isIP(plain) === 6 ? embeddedIpv4(plain) : [];
  const scopes = [ownScope(plain), ...inside.map(ownScope)];
  return scopes.reduce((worst, scope) => (BY_DANGER.indexOf(scope) > BY_DANGER.indexOf(worst) ? scope : worst));
}
