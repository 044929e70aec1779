/** The options of curl for HTTPS and mutual TLS: files by variable, as the harness takes them from the environment. */
import type { ConnectChange } from '../../scenarios/index.ts';
import type { Partner } from '../sender/index.ts';

/** Whether curl can make such a connection: it has neither the certificates that are made for a probe nor sessions to resume. */
function isWithinReach({ clientCertificate = 'none', resumeFrom, serverName, plain }: ConnectChange): boolean {
  return clientCertificate === 'none' && resumeFrom === undefined && serverName !== false && plain !== true;
}

/** The options, or null when curl cannot connect like this. They read HOOKPROOF_CA, HOOKPROOF_CLIENT_CERT and HOOKPROOF_CLIENT_KEY as paths. */
export function tlsArguments({ url, tls = {} }: Partner, change: ConnectChange | undefined): string[] | null {
  if (!url.startsWith('https:')) return change === undefined ? [] : null;
  if (change !== undefined && !isWithinReach(change)) return null;
  const presents = tls.clientCert !== undefined && change?.clientCertificate !== 'none';
  const version = change?.version?.replace('TLSv', '');
  return [
    ...(tls.ca === undefined ? [] : ['--cacert "$HOOKPROOF_CA"']),
    ...(presents ? ['--cert "$HOOKPROOF_CLIENT_CERT"', '--key "$HOOKPROOF_CLIENT_KEY"'] : []),
    ...(version === undefined ? [] : [`--tlsv${version} --tls-max ${version}`]),
    ...(change?.alpn === undefined ? [] : [change.alpn.length === 0 ? '--no-alpn' : '--http1.1']),
  ];
}
