/** Whether the leaf is for the host of the URL. Only the subject alternative name counts; the common name does not. */
import { hostsOf } from '../facts/certificate-facts.ts';
import { canonicalIp } from '../facts/ip-address.ts';
import { visibleText } from '../facts/visible-text.ts';
import type { ChainFault } from './chain-analysis.ts';
import { coversHost, coversName } from './host-match.ts';
import type { Link } from './link.ts';
import { listOf, nameOf } from './wording.ts';

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
