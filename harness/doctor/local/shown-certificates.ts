import type { X509Certificate } from 'node:crypto';
import { type CertificateFacts, certificateFacts } from '../../../certs/index.ts';
import type { FactsOf } from '../doctor-document.ts';

type Shown = FactsOf<'authorities'>['certificates'][number];

/** More than any honest certificate has. */
const MOST_HOSTS = 100;

/** Facts as a document has them: its own copy, with long lists cut. */
export function shownFacts<Facts extends CertificateFacts>(facts: Facts): Facts & Shown {
  const { hosts, usages } = facts;
  return { ...facts, hosts: hosts.slice(0, MOST_HOSTS), usages: usages === null ? null : [...usages] };
}

/** The certificates that can be read by us too: OpenSSL puts up with more. */
export function shownCertificates(certificates: readonly X509Certificate[]): Shown[] {
  return certificates.flatMap(({ raw }) => {
    try {
      return [shownFacts(certificateFacts(raw))];
    } catch {
      return [];
    }
  });
}
