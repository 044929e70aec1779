/** Whether a certificate is for a host. Only the subject alternative name counts (RFC 9110, 4.3.4; RFC 6125, 6.4). */
import { canonicalIp } from '../facts/ip-address.ts';
import type { AlternativeName } from '../facts/read-extensions.ts';

/** Small letters, without a dot at the end. */
function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** Whether the pattern covers the DNS name. An asterisk stands for exactly one label, the whole left-most one. */
export function coversName(pattern: string, host: string): boolean {
  const [wanted, given] = [plain(host), plain(pattern)];
  if (wanted === '' || given === '') return false;
  if (!given.startsWith('*.')) return given === wanted && !given.includes('*');
  const rest = given.slice(1);
  const label = wanted.slice(0, wanted.indexOf('.'));
  // An asterisk directly under a top-level name covers nothing: no client takes "*.com".
  return label !== '' && wanted === label + rest && !rest.includes('*') && /^\.[^.]+\../.test(rest);
}

/** Whether one of the names is the host: a DNS name, or an IP address in any spelling. */
export function coversHost(names: readonly AlternativeName[], host: string): boolean {
  const address = canonicalIp(host);
  if (address !== null) return names.some(({ kind, name }) => kind === 'ip' && name === address);
  return names.some(({ kind, name }) => kind === 'dns' && name !== null && coversName(name, host));
}
