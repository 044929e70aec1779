/** Checks the certificate of a client or a server. Returns problems and advice. Specification: TLS. */

import type { X509Certificate } from 'node:crypto';
import {
  daysBetween,
  issuerInWords,
  PURPOSES,
  type Purpose,
  purposeFault,
  subjectInWords,
  validityAt,
  validityOf,
} from '../facts/certificate-facts.ts';
import { keyFactsOf, keyInWords, keyStrength, publicKeyOf, usageName, weakHashOf } from '../facts/key-facts.ts';
import { isCa, isIssuedBy, isSelfIssued, isSelfSigned, readingOf } from '../facts/read-certificate.ts';
import type { MaterialAdvice, MaterialAdviceCode, MaterialProblem, MaterialProblemCode } from './finding.ts';
import type { OrderedChain } from './read-certificates.ts';

interface LeafFindings {
  readonly problems: readonly MaterialProblem[];
  readonly advice: readonly MaterialAdvice[];
}

/** Checks a leaf certificate. Messages call it `name`. */
export function checkLeaf(leaf: X509Certificate, name: string, purpose: Purpose, now: Date): LeafFindings {
  const problems: MaterialProblem[] = [];
  const advice: MaterialAdvice[] = [];
  const reject = (code: MaterialProblemCode, what: string, hint: string) =>
    problems.push({ code, about: 'certificate', what: `${name} ${what}`, hint });
  const advise = (code: MaterialAdviceCode, what: string, hint: string) =>
    advice.push({ code, about: 'certificate', what: `${name} ${what}`, hint });

  checkDates(leaf, now, reject, advise);
  checkPurpose(leaf, purpose, reject, advise);
  const key = keyInWords(leaf.publicKey);
  const strength = keyStrength(keyFactsOf(leaf.publicKey));
  if (strength === 'weak') {
    const hint = 'Get a certificate with an RSA key of 2048 bits or more, or with ECDSA on P-256.';
    reject('CERT_WEAK_KEY', `has a key that is too weak: ${key}`, hint);
  }
  if (strength === 'unusual') {
    const hint = 'Use RSA with 2048 bits or more, or ECDSA on P-256, which all servers and clients support.';
    advise('CERT_KEY_KIND', `has a key of a type that is not widely supported: ${key}`, hint);
  }
  const hash = weakHashOf(readingOf(leaf)?.signature ?? '');
  if (isSelfSigned(leaf)) {
    const hint = 'It is accepted only where this certificate itself is trusted.';
    advise('CERT_SELF_SIGNED', 'is self-signed: no CA vouches for it', hint);
  } else if (hash !== null) {
    // Only advice: OpenSSL rejects the certificate, but the peer may use another library.
    const hint = 'OpenSSL 3 rejects it in a chain: get it reissued with SHA-256.';
    advise('CERT_WEAK_SIGNATURE', `is signed with ${hash}`, hint);
  }
  if (leaf.ca) {
    const hint = `Its key can issue certificates: get a certificate that is for ${PURPOSES[purpose].users} only.`;
    advise('CERT_IS_AUTHORITY', 'is a CA certificate', hint);
  }
  return { problems, advice };
}

/**
 * Checks the certificates that follow a leaf in its file. All findings are advice, because the peer may already know
 * the chain.
 *
 * @param authorities certificates that the caller knows, such as those that it trusts
 */
export function checkChain(
  { chain, reordered, duplicates, unrelated }: OrderedChain,
  name: string,
  authorities: readonly X509Certificate[],
  now: Date,
): MaterialAdvice[] {
  const advice: MaterialAdvice[] = [];
  const advise = (code: MaterialAdviceCode, what: string, hint: string) =>
    advice.push({ code, about: 'certificate', what: `${name} ${what}`, hint });

  if (reordered) {
    const hint = 'hookproof uses the correct order, but other programs need it in the file.';
    advise('CHAIN_REORDERED', 'does not start with the certificate of the key, or its issuers are out of order', hint);
  }
  if (duplicates > 0) advise('CHAIN_DUPLICATE', 'contains a certificate twice', 'Remove one of them.');
  if (unrelated.length > 0) {
    const names = unrelated.length > 5 ? `${unrelated.length} certificates` : unrelated.map(subjectInWords).join('; ');
    const what = `contains certificates outside the chain: ${names}`;
    advise('CHAIN_UNRELATED', what, 'They are not used. Remove them, or check that they are correct.');
  }
  for (const link of chain.slice(1)) {
    const fault = linkFault(link, now);
    if (fault === undefined) continue;
    const hint = 'Clients and servers reject it: get a newer one from the CA.';
    advise('CHAIN_WEAK', `has ${subjectInWords(link)} in its chain, which ${fault}`, hint);
  }
  const missing = missingIssuer(chain, authorities);
  if (missing !== undefined) {
    const hint =
      'Add it to the file after the certificate: otherwise, a peer that trusts only the root cannot find it.';
    advise('CHAIN_INCOMPLETE', missing, hint);
  }
  return advice;
}

type Report<Code> = (code: Code, what: string, hint: string) => void;

function checkDates(
  leaf: X509Certificate,
  now: Date,
  reject: Report<MaterialProblemCode>,
  advise: Report<MaterialAdviceCode>,
): void {
  const { notBefore, notAfter } = validityOf(leaf);
  switch (validityAt({ notBefore, notAfter }, now)) {
    case 'expired': {
      const hint = 'Get a new certificate, and check the clock of this machine.';
      reject('CERT_EXPIRED', `expired on ${notAfter.toISOString()}`, hint);
      return;
    }
    case 'not-yet-valid': {
      const hint = 'Check the clock of this machine, or wait until then.';
      reject('CERT_NOT_YET_VALID', `is not valid before ${notBefore.toISOString()}`, hint);
      return;
    }
    case 'expires-soon': {
      const days = daysBetween(now, notAfter);
      const when = days < 1 ? 'within a day' : days === 1 ? 'in 1 day' : `in ${days} days`;
      advise('CERT_EXPIRES_SOON', `expires ${when}, on ${notAfter.toISOString()}`, 'Renew it in time.');
    }
  }
}

function checkPurpose(
  leaf: X509Certificate,
  purpose: Purpose,
  reject: Report<MaterialProblemCode>,
  advise: Report<MaterialAdviceCode>,
): void {
  const { usage, users } = PURPOSES[purpose];
  // Null or undefined when the certificate lacks the extension.
  const extendedKeyUsage = leaf.keyUsage?.map(usageName) ?? null;
  const keyUsage = readingOf(leaf)?.extensions.keyUsage ?? null;
  const hint = `Get a certificate with the extended key usage ${usage}, or without that extension.`;
  switch (purposeFault(purpose, { extendedKeyUsage, keyUsage })) {
    case 'any-purpose':
      // Only advice, because libraries other than OpenSSL accept it.
      advise('CERT_ANY_PURPOSE', `has the extended key usage "any" instead of ${usage}, which OpenSSL rejects`, hint);
      return;
    case 'other-purpose': {
      const other = Object.values(PURPOSES).find((one) => extendedKeyUsage?.includes(one.usage));
      const meant = other === undefined ? 'another purpose' : other.users;
      reject('CERT_PURPOSE', `is for ${meant}, not for ${users} (no extended key usage ${usage})`, hint);
      return;
    }
    case 'no-signing': {
      const what = `cannot be used by ${users}: its key usage lacks digitalSignature`;
      reject('CERT_PURPOSE', what, 'Get a certificate with the key usage digitalSignature.');
    }
  }
}

function linkFault(link: X509Certificate, now: Date): string | undefined {
  const validity = validityOf(link);
  const state = validityAt(validity, now);
  if (state === 'expired') return `expired on ${validity.notAfter.toISOString()}`;
  if (state === 'not-yet-valid') return `is not valid before ${validity.notBefore.toISOString()}`;
  const key = publicKeyOf(link);
  if (key && keyStrength(keyFactsOf(key)) === 'weak') return `has a key that is too weak: ${keyInWords(key)}`;
  if (!isCa(link)) return 'is not a CA';
  const hash = isSelfSigned(link) ? null : weakHashOf(readingOf(link)?.signature ?? '');
  return hash === null ? undefined : `is signed with ${hash}`;
}

/**
 * Reports a missing intermediate. This is certain when the issuer is known, and likely when the leaf states where to
 * download it.
 */
function missingIssuer(chain: readonly X509Certificate[], authorities: readonly X509Certificate[]): string | undefined {
  const last = chain.at(-1);
  if (last === undefined || isSelfIssued(last)) return undefined;
  const issuer = issuerInWords(last);
  const known = authorities.find((one) => isIssuedBy(last, one));
  if (known !== undefined) return isSelfIssued(known) ? undefined : `lacks the intermediate certificate ${issuer}`;
  return chain.length === 1 && /CA Issuers/.test(last.infoAccess ?? '')
    ? `may lack the intermediate certificate ${issuer}`
    : undefined;
}
