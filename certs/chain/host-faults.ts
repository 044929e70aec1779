/** Whether the leaf is for the host of the URL. Only the subject alternative name counts; the common name does not. */
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
  const fix = `Have the certificate issued anew with ${address === null ? `DNS:${asked}` : `IP:${visibleText(address, 60)}`} in its subject alternative name.`;
  const mismatch = (text: string): ChainFault => ({ code: 'host-mismatch', at, text, fix });

  if (names.length === 0) {
    const none =
      certificate.extensions.alternativeNames === null
        ? 'has no subject alternative name'
        : 'has no host in its subject alternative name';
    const absent: ChainFault = {
      code: 'no-alternative-name',
      at,
      text: `${name} ${none}, and clients no longer look at the common name.`,
      fix,
    };
    const common = certificate.subject.commonName ?? '';
    const fits = address === null ? coversName(common, host) : canonicalIp(common) === address;
    return fits ? [absent] : [absent, mismatch(`${name} is not for ${asked}: its common name is another one too.`)];
  }
  if (coversHost(names, host)) return [];
  const asName = address !== null && names.some((entry) => entry.kind === 'dns' && canonicalIp(entry.name) === address);
  if (asName)
    return [mismatch(`${name} has the address ${asked} as a DNS name, and clients look for it as an IP address.`)];
  return [mismatch(`${name} is for ${listOf(hostsOf(certificate))}, and not for ${asked}.`)];
}

/** Whether a certificate is for a host. Only the subject alternative name counts (RFC 9110, 4.3.4; RFC 6125, 6.4). */

/** Small letters, without a dot at the end. */
function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** Whether the pattern covers the DNS name. An asterisk stands for exactly one label, the whole left-most one. */
function coversName(pattern: string, host: string): boolean {
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
