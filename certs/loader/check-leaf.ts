/** What is wrong or unwise about the certificate of a client or a server. Specification: TLS. */
import type { X509Certificate } from 'node:crypto';
import { EXPIRY_WARNING_DAYS } from '../../contract/index.ts';
import {
  isExpired,
  isNotYetValid,
  isSelfSigned,
  keyInWords,
  maySignHandshakes,
  weakSignatureHash,
} from './certificate-facts.ts';
import type { MaterialAdvice, MaterialAdviceCode, MaterialProblem, MaterialProblemCode } from './finding.ts';
import { keyStrength } from './key-strength.ts';

export type Purpose = 'client' | 'server';

const USAGE = {
  client: { id: '1.3.6.1.5.5.7.3.2', name: 'clientAuth', role: 'clients' },
  server: { id: '1.3.6.1.5.5.7.3.1', name: 'serverAuth', role: 'servers' },
} as const;
const ANY_USAGE = '2.5.29.37.0';
const DAY_MS = 86_400_000;

export interface LeafFindings {
  readonly problems: readonly MaterialProblem[];
  readonly advice: readonly MaterialAdvice[];
}

/** `name` is what messages call the certificate. */
export function checkLeaf(leaf: X509Certificate, name: string, purpose: Purpose, now: Date): LeafFindings {
  const problems: MaterialProblem[] = [];
  const advice: MaterialAdvice[] = [];
  const refuse = (code: MaterialProblemCode, what: string, hint: string) =>
    problems.push({ code, about: 'certificate', what: `${name} ${what}`, hint });
  const advise = (code: MaterialAdviceCode, what: string, hint: string) =>
    advice.push({ code, about: 'certificate', what: `${name} ${what}`, hint });

  checkDates(leaf, now, refuse, advise);
  checkPurpose(leaf, purpose, refuse, advise);
  const key = keyInWords(leaf.publicKey);
  const strength = keyStrength(leaf.publicKey);
  if (strength === 'weak') {
    const hint = 'Have one issued for RSA with 2048 bits or more, or for ECDSA on P-256.';
    refuse('CERT_WEAK_KEY', `has a key that is too weak: ${key}`, hint);
  }
  if (strength === 'unusual') {
    const hint = 'Use RSA with 2048 bits or more, or ECDSA on P-256, which every server and client knows.';
    advise('CERT_KEY_KIND', `has a key of a kind that not everyone takes: ${key}`, hint);
  }
  const hash = weakSignatureHash(leaf);
  if (hash !== undefined) {
    const hint = 'OpenSSL 3 refuses it in a chain: have it issued anew with SHA-256.';
    advise('CERT_WEAK_SIGNATURE', `is signed with ${hash}`, hint);
  }
  if (isSelfSigned(leaf)) {
    const hint = 'It is accepted only where this very certificate is trusted.';
    advise('CERT_SELF_SIGNED', 'is self-signed: no authority vouches for it', hint);
  }
  if (leaf.ca) {
    const hint = `Whoever has its key can issue certificates: have one issued that is for ${USAGE[purpose].role} only.`;
    advise('CERT_IS_AUTHORITY', 'is that of an authority', hint);
  }
  return { problems, advice };
}

type Say<Code> = (code: Code, what: string, hint: string) => void;

function checkDates(
  leaf: X509Certificate,
  now: Date,
  refuse: Say<MaterialProblemCode>,
  advise: Say<MaterialAdviceCode>,
): void {
  const [from, to] = [new Date(leaf.validFrom), new Date(leaf.validTo)];
  if (isExpired(leaf, now)) {
    refuse(
      'CERT_EXPIRED',
      `expired on ${to.toISOString()}`,
      'Have a new one issued, and check the clock of this machine.',
    );
    return;
  }
  if (isNotYetValid(leaf, now)) {
    refuse(
      'CERT_NOT_YET_VALID',
      `is not valid before ${from.toISOString()}`,
      'Wait, or check the clock of this machine.',
    );
    return;
  }
  const days = Math.floor((to.getTime() - now.getTime()) / DAY_MS);
  if (days < EXPIRY_WARNING_DAYS) {
    const when = days < 1 ? 'within a day' : days === 1 ? 'in 1 day' : `in ${days} days`;
    advise('CERT_EXPIRES_SOON', `expires ${when}, on ${to.toISOString()}`, 'Have a new one issued in time.');
  }
}

/** As OpenSSL judges it: a certificate without the extensions is good for everything. */
function checkPurpose(
  leaf: X509Certificate,
  purpose: Purpose,
  refuse: Say<MaterialProblemCode>,
  advise: Say<MaterialAdviceCode>,
): void {
  const { id, name, role } = USAGE[purpose];
  // Node has null or undefined for a certificate without the extension.
  const usages: readonly string[] | undefined = leaf.keyUsage ?? undefined;
  const hint = `Have one issued with the extended key usage ${name}, or without that extension.`;
  if (usages?.includes(id) === false) {
    if (usages.includes(ANY_USAGE)) {
      advise('CERT_ANY_PURPOSE', `names any purpose and not ${name}, which OpenSSL refuses`, hint);
    } else {
      const other = Object.values(USAGE).find((usage) => usages.includes(usage.id));
      const meant = other === undefined ? 'another purpose' : other.role;
      refuse('CERT_PURPOSE', `is meant for ${meant} and not for ${role} (no extended key usage ${name})`, hint);
    }
    return;
  }
  if (purpose === 'client' && !maySignHandshakes(leaf)) {
    const what = `may not be used by ${role}: its key usage has no digital signature`;
    refuse('CERT_PURPOSE', what, 'Have one issued whose key usage has digitalSignature.');
  }
}
