/** From where an address can be reached. */
import { BlockList, isIP } from 'node:net';
import type { FactsOf } from '../doctor-document.ts';

export type AddressScope = FactsOf<'dns'>['addresses'][number]['scope'];

function list(...nets: readonly (readonly [net: string, prefix: number])[]): BlockList {
  const made = new BlockList();
  for (const [net, prefix] of nets) made.addSubnet(net, prefix, isIP(net) === 6 ? 'ipv6' : 'ipv4');
  return made;
}

/** The registries of special addresses: RFC 6890 and its successors. The first that holds an address counts. */
const SCOPES: readonly (readonly [AddressScope, BlockList])[] = [
  ['loopback', list(['127.0.0.0', 8], ['::1', 128])],
  // Shared address space (RFC 6598) stands between a provider and its customers: no more reachable than private.
  ['private', list(['10.0.0.0', 8], ['172.16.0.0', 12], ['192.168.0.0', 16], ['100.64.0.0', 10], ['fc00::', 7])],
  ['link-local', list(['169.254.0.0', 16], ['fe80::', 10])],
  [
    'special',
    list(
      ['0.0.0.0', 8],
      ['192.0.0.0', 24],
      ['192.0.2.0', 24],
      ['198.18.0.0', 15],
      ['198.51.100.0', 24],
      ['203.0.113.0', 24],
      ['224.0.0.0', 3],
      ['::', 128],
      ['100::', 64],
      ['2001:db8::', 32],
      ['ff00::', 8],
    ),
  ],
];

/** The scope of an address that is one. An IPv4 address in an IPv6 one counts as itself. */
export function scopeOf(address: string): AddressScope {
  const [plain = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1] ?? plain;
  const family = isIP(mapped) === 6 ? 'ipv6' : 'ipv4';
  return SCOPES.find(([, nets]) => nets.check(mapped, family))?.[0] ?? 'public';
}
