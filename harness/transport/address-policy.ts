/** Decides which addresses an endpoint may have. Operators run hookproof against URLs that other people supply. */
import { BlockList, isIP } from 'node:net';

/**
 * `local-too`: loopback and private addresses are allowed, for laptops and staging. `public-only`: they are refused,
 * except for hosts allowed by name. `loopback-only`: all others are refused, except for hosts allowed by name.
 * Link-local, metadata and special-purpose addresses are always refused.
 */
export type AddressPolicy =
  | { readonly reach: 'local-too' }
  /** Hosts, as written in the URL, that may nevertheless have private or loopback addresses. */
  | { readonly reach: 'public-only'; readonly allowPrivate?: readonly string[] }
  /** Hosts, as written in the URL, that may nevertheless have public or private addresses. */
  | { readonly reach: 'loopback-only'; readonly allowHosts: readonly string[] };

export const LOCAL_TOO: AddressPolicy = { reach: 'local-too' };

const WORDS: Readonly<Record<AddressScope, string>> = {
  public: 'a public address',
  private: 'a private address',
  loopback: 'an address of this machine',
  'link-local': 'a link-local address',
  metadata: 'a metadata address from which cloud machines read their own credentials',
  special: 'an address that no endpoint can have',
};

/** Returns whether the policy allows connections to this address of a host. */
export function isAllowed(address: string, host: string, policy: AddressPolicy): boolean {
  const scope = scopeOf(address);
  if (scope !== 'public' && scope !== 'private' && scope !== 'loopback') return false;
  const isNamed = (names: readonly string[] = []) => names.some((name) => hostOf(name) === hostOf(host));
  switch (policy.reach) {
    case 'local-too':
      return true;
    case 'public-only':
      return scope === 'public' || isNamed(policy.allowPrivate);
    case 'loopback-only':
      return scope === 'loopback' || isNamed(policy.allowHosts);
  }
}

/** Describes an address: "10.0.0.1, a private address". */
export function addressInWords(address: string): string {
  return `${address}, ${WORDS[scopeOf(address)]}`;
}

/** Returns what the user can do about addresses that this policy refuses. */
export function adviceFor(addresses: readonly string[], { reach }: AddressPolicy): string {
  const local = addresses.some((address) => ['private', 'loopback'].includes(scopeOf(address)));
  if (reach === 'loopback-only' && (local || addresses.some((address) => scopeOf(address) === 'public')))
    return (
      'Only addresses of this machine are allowed. If you meant this endpoint, have the server started with ' +
      '`--allow-host HOST`.'
    );
  if (local) return 'If you meant this endpoint, allow its host by name with `--allow-private HOST`.';
  return addresses.some((address) => /^(?:0\.0\.0\.0|::)$/.test(address))
    ? 'A server that listens on all addresses of this machine can be reached at 127.0.0.1.'
    : 'hookproof never sends deliveries there. Give the URL of the endpoint itself.';
}

/** Normalises a host as the URL parser does, without brackets. */
function hostOf(name: string): string {
  const bare = name.replace(/^\[|\]$/g, '');
  const url = `http://${isIP(bare) === 6 ? `[${bare}]` : bare}/`;
  return (URL.canParse(url) ? new URL(url).hostname : bare).replace(/\.$/, '').toLowerCase();
}

/**
 * `metadata`: the address at which a cloud machine reads its credentials. `special`: not a host on the Internet
 * (unspecified, multicast, broadcast, documentation, benchmarks, reserved). Carrier-grade NAT counts as `private`.
 */
export type AddressScope = 'public' | 'loopback' | 'private' | 'link-local' | 'metadata' | 'special';

/** Returns a list of networks that is built on first use. That takes milliseconds, and most commands need no list. */
function list(...nets: readonly (readonly [net: string, prefix: number])[]): () => BlockList {
  let made: BlockList | undefined;
  return () => {
    if (made !== undefined) return made;
    made = new BlockList();
    for (const [net, prefix] of nets) made.addSubnet(net, prefix, isIP(net) === 6 ? 'ipv6' : 'ipv4');
    return made;
  };
}

/**
 * The registries of special-purpose addresses (RFC 6890 and successors) and addresses documented by cloud providers.
 * The first match counts.
 */
const SCOPES: readonly (readonly [AddressScope, () => BlockList])[] = [
  [
    'metadata',
    list(
      ['169.254.169.254', 32],
      // Container credentials: ECS and EKS.
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
  // From outside, the shared address space (RFC 6598) is no more reachable than a private one. fec0::/10 was once
  // private.
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
      // NAT64 within a network (RFC 8215), which may lead anywhere in it.
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

/** Scopes by danger, least dangerous first. */
const BY_DANGER: readonly AddressScope[] = ['public', 'private', 'loopback', 'special', 'link-local', 'metadata'];

function ownScope(address: string): AddressScope {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  return SCOPES.find(([, nets]) => nets().check(address, family))?.[0] ?? 'public';
}

/**
 * Returns the scope of an address, with or without a zone. With an embedded IPv4 address, the more dangerous scope
 * counts.
 */
export function scopeOf(address: string): AddressScope {
  const [plain = ''] = address.split('%');
  const inside = isIP(plain) === 6 ? embeddedIpv4(plain) : [];
  const scopes = [ownScope(plain), ...inside.map(ownScope)];
  return scopes.reduce((worst, scope) => (BY_DANGER.indexOf(scope) > BY_DANGER.indexOf(worst) ? scope : worst));
}

/** Returns the eight groups of an IPv6 address. The URL parser handles every notation. */
function groupsOf(address: string): number[] {
  const { hostname } = new URL(`http://[${address}]/`);
  const [front = '', back] = hostname.slice(1, -1).split('::');
  const read = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [head, tail] = [read(front), read(back ?? '')];
  return back === undefined ? head : [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

const startsWith = (groups: readonly number[], start: readonly number[]) =>
  start.every((group, at) => groups[at] === group);

/**
 * Returns the IPv4 addresses embedded in an IPv6 address, which a connection to it may reach: mapped (RFC 4291),
 * compatible, translated (RFC 7915), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056), Teredo (RFC 4380: the server, and the
 * client behind it) and ISATAP (RFC 5214).
 *
 * @param address an IPv6 address without a zone
 */
function embeddedIpv4(address: string): string[] {
  const groups = groupsOf(address);
  const [, second, third, fourth, , , seventh = 0, eighth = 0] = groups;
  const last = dotted(seventh, eighth);
  const zeros = [0, 0, 0, 0];
  if (startsWith(groups, [...zeros, 0, 0xffff]) || startsWith(groups, [...zeros, 0xffff, 0])) return [last];
  // The loopback and the unspecified address begin in the same way, and embed no IPv4 address.
  if (startsWith(groups, [...zeros, 0, 0])) return seventh === 0 && eighth <= 1 ? [] : [last];
  if (startsWith(groups, [0x64, 0xff9b])) return [last];
  if (startsWith(groups, [0x2002])) return [dotted(second, third)];
  if (startsWith(groups, [0x2001, 0])) return [dotted(third, fourth), dotted(seventh ^ 0xffff, eighth ^ 0xffff)];
  const isatap = groups[5] === 0x5efe && (groups[4] === 0 || groups[4] === 0x200);
  return isatap ? [last] : [];
}
