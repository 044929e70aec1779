/**
 * Checks whether a certificate is for the host. Only the subject alternative name counts (RFC 9110, 4.3.4; RFC 6125,
 * 6.4).
 */

import { hostsOf } from '../facts/certificate-facts.ts';
import { type AlternativeName, canonicalIp } from '../facts/read-certificate.ts';
import { visibleText } from '../facts/wording.ts';
import { type ChainFault, listOf, nameOf } from './chain-analysis.ts';
import type { Link } from './chain-path.ts';

export function hostFaults(leaf: Link, host: string): ChainFault[] {
  const { certificate, at } = leaf;
  const names = certificate.extensions.alternativeNames ?? [];
  const name = nameOf(certificate);
  const asked = visibleText(host, 255);
  const address = canonicalIp(host);
  const mismatch = (text: string): ChainFault => ({ code: 'host-mismatch', at, text });

  if (names.length === 0) {
    const none =
      certificate.extensions.alternativeNames === null
        ? 'has no subject alternative name'
        : 'has no host in its subject alternative name';
    const absent: ChainFault = {
      code: 'no-alternative-name',
      at,
      text: `${name} ${none}, and clients ignore the common name.`,
    };
    const common = certificate.subject.commonName ?? '';
    const matches = address === null ? matchesName(common, host) : canonicalIp(common) === address;
    return matches
      ? [absent]
      : [absent, mismatch(`${name} is not for ${asked}: its common name does not match either.`)];
  }
  if (matchesHost(names, host)) return [];
  const asName = address !== null && names.some((entry) => entry.kind === 'dns' && canonicalIp(entry.name) === address);
  if (asName) return [mismatch(`${name} has the address ${asked} as a DNS name, but clients expect an IP address.`)];
  return [mismatch(`${name} is for ${listOf(hostsOf(certificate))}, not for ${asked}.`)];
}

/** Returns true when one of the names matches the host, which is a DNS name, or an IP address in any spelling. */
export function matchesHost(names: readonly AlternativeName[], host: string): boolean {
  const address = canonicalIp(host);
  if (address !== null) return names.some(({ kind, name }) => kind === 'ip' && name === address);
  return names.some(({ kind, name }) => kind === 'dns' && name !== null && matchesName(name, host));
}

/** Converts a name to lower case and removes its trailing dot. */
function normalise(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** Returns true when the pattern matches the DNS name. An asterisk matches exactly one label: the first. */
function matchesName(pattern: string, host: string): boolean {
  const [wanted, given] = [normalise(host), normalise(pattern)];
  if (wanted === '' || given === '') return false;
  if (!given.startsWith('*.')) return given === wanted && !given.includes('*');
  const rest = given.slice(1);
  const label = wanted.slice(0, wanted.indexOf('.'));
  // Clients reject an asterisk directly below a top-level domain, as in "*.com".
  return label !== '' && wanted === label + rest && !rest.includes('*') && /^\.[^.]+\../.test(rest);
}
