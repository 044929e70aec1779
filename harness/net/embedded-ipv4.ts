/** IPv4 addresses that are spelt as IPv6 ones: whoever connects to such an address reaches the IPv4 one, or may. */

/** The eight groups of an IPv6 address. The URL parser knows every spelling of one. */
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
 * The IPv4 addresses in an IPv6 one: mapped (RFC 4291), compatible, translated (RFC 7915), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056),
 * Teredo (RFC 4380: the server, and the client behind it) and ISATAP (RFC 5214). Empty when it holds none.
 *
 * @param address an IPv6 address without a zone
 */
export function embeddedIpv4(address: string): string[] {
  const groups = groupsOf(address);
  const [, second, third, fourth, , , seventh = 0, eighth = 0] = groups;
  const last = dotted(seventh, eighth);
  const zeros = [0, 0, 0, 0];
  if (startsWith(groups, [...zeros, 0, 0xffff]) || startsWith(groups, [...zeros, 0xffff, 0])) return [last];
  // The loopback and the unspecified address look alike and hold none.
  if (startsWith(groups, [...zeros, 0, 0])) return seventh === 0 && eighth <= 1 ? [] : [last];
  if (startsWith(groups, [0x64, 0xff9b])) return [last];
  if (startsWith(groups, [0x2002])) return [dotted(second, third)];
  if (startsWith(groups, [0x2001, 0])) return [dotted(third, fourth), dotted(seventh ^ 0xffff, eighth ^ 0xffff)];
  const isatap = groups[5] === 0x5efe && (groups[4] === 0 || groups[4] === 0x200);
  return isatap ? [last] : [];
}
