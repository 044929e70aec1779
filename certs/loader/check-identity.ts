/** What is wrong or unwise about the certificate of a client or a server. Specification: TLS. */
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
import { isAuthority, isIssuedBy, isSelfIssued, isSelfSigned, readingOf } from '../facts/read-certificate.ts';
import type { MaterialAdvice, MaterialAdviceCode, MaterialProblem, MaterialProblemCode } from './finding.ts';
import type { OrderedChain } from './read-certificates.ts';

interface LeafFindings {
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
  const strength = keyStrength(keyFactsOf(leaf.publicKey));
  if (strength === 'weak') {
    const hint = 'Have one issued for RSA with 2048 bits or more, or for ECDSA on P-256.';
    refuse('CERT_WEAK_KEY', `has a key that is too weak: ${key}`, hint);
  }
  if (strength === 'unusual') {
    const hint = 'Use RSA with 2048 bits or more, or ECDSA on P-256, which every server and client knows.';
    advise('CERT_KEY_KIND', `has a key of a kind that not everyone takes: ${key}`, hint);
  }
  const hash = weakHashOf(readingOf(leaf)?.signature ?? '');
  if (isSelfSigned(leaf)) {
    const hint = 'It is accepted only where this very certificate is trusted.';
    advise('CERT_SELF_SIGNED', 'is self-signed: no authority vouches for it', hint);
  } else if (hash !== null) {
    // The analysis of a chain speaks for OpenSSL, to which it is a fault. Here the other side may be anybody.
    const hint = 'OpenSSL 3 refuses it in a chain: have it issued anew with SHA-256.';
    advise('CERT_WEAK_SIGNATURE', `is signed with ${hash}`, hint);
  }
  if (leaf.ca) {
    const hint = `Whoever has its key can issue certificates: have one issued that is for ${PURPOSES[purpose].users} only.`;
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
  const { notBefore, notAfter } = validityOf(leaf);
  switch (validityAt({ notBefore, notAfter }, now)) {
    case 'expired': {
      const hint = 'Have a new one issued, and check the clock of this machine.';
      refuse('CERT_EXPIRED', `expired on ${notAfter.toISOString()}`, hint);
      return;
    }
    case 'not-yet-valid': {
      const hint = 'Wait, or check the clock of this machine.';
      refuse('CERT_NOT_YET_VALID', `is not valid before ${notBefore.toISOString()}`, hint);
      return;
    }
    case 'expires-soon': {
      const days = daysBetween(now, notAfter);
      const when = days < 1 ? 'within a day' : days === 1 ? 'in 1 day' : `in ${days} days`;
      advise('CERT_EXPIRES_SOON', `expires ${when}, on ${notAfter.toISOString()}`, 'Have a new one issued in time.');
    }
  }
}

function checkPurpose(
  leaf: X509Certificate,
  purpose: Purpose,
  refuse: Say<MaterialProblemCode>,
  advise: Say<MaterialAdviceCode>,
): void {
  const { usage, users } = PURPOSES[purpose];
  // Node has null or undefined for a certificate without the extension.
  const extendedKeyUsage = leaf.keyUsage?.map(usageName) ?? null;
  const keyUsage = readingOf(leaf)?.extensions.keyUsage ?? null;
  const hint = `Have one issued with the extended key usage ${usage}, or without that extension.`;
  switch (purposeFault(purpose, { extendedKeyUsage, keyUsage })) {
    case 'any-purpose':
      // The same: a fault to OpenSSL, while others take it.
      advise('CERT_ANY_PURPOSE', `names any purpose and not ${usage}, which OpenSSL refuses`, hint);
      return;
    case 'other-purpose': {
      const other = Object.values(PURPOSES).find((one) => extendedKeyUsage?.includes(one.usage));
      const meant = other === undefined ? 'another purpose' : other.users;
      refuse('CERT_PURPOSE', `is meant for ${meant} and not for ${users} (no extended key usage ${usage})`, hint);
      return;
    }
    case 'no-signing': {
      const what = `may not be used by ${users}: its key usage has no digital signature`;
      refuse('CERT_PURPOSE', what, 'Have one issued whose key usage has digitalSignature.');
    }
  }
}

/** What is unwise about the certificates around a leaf. Each of it is advice: a server may know the chain by itself. */

/** `authorities` are certificates that the caller knows, such as those that it trusts. */
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
    const hint = 'They are used in the right order here; other programs need them so in the file.';
    advise('CHAIN_REORDERED', 'does not begin with the certificate of the key, or its issuers are out of order', hint);
  }
  if (duplicates > 0) advise('CHAIN_DUPLICATE', 'holds a certificate twice', 'Remove one of them.');
  if (unrelated.length > 0) {
    const names = unrelated.map(subjectInWords).join('; ');
    const what = `holds what is no part of the chain: ${unrelated.length > 5 ? `${unrelated.length} certificates` : names}`;
    advise('CHAIN_UNRELATED', what, 'It is left out. Remove it, or check that it is what you meant to add.');
  }
  for (const link of chain.slice(1)) {
    const fault = linkFault(link, now);
    if (fault === undefined) continue;
    const hint = 'Who checks the chain will refuse it: get a newer one from the authority.';
    advise('CHAIN_WEAK', `has ${subjectInWords(link)} in its chain, which ${fault}`, hint);
  }
  const missing = missingIssuer(chain, authorities);
  if (missing !== undefined) {
    const hint = 'Add it to the file after the certificate: who trusts only the root cannot find it otherwise.';
    advise('CHAIN_INCOMPLETE', missing, hint);
  }
  return advice;
}

function linkFault(link: X509Certificate, now: Date): string | undefined {
  const validity = validityOf(link);
  const state = validityAt(validity, now);
  if (state === 'expired') return `expired on ${validity.notAfter.toISOString()}`;
  if (state === 'not-yet-valid') return `is not valid before ${validity.notBefore.toISOString()}`;
  const key = publicKeyOf(link);
  if (key && keyStrength(keyFactsOf(key)) === 'weak') return `has a key that is too weak: ${keyInWords(key)}`;
  if (!isAuthority(link)) return 'is no authority';
  const hash = isSelfSigned(link) ? null : weakHashOf(readingOf(link)?.signature ?? '');
  return hash === null ? undefined : `is signed with ${hash}`;
}

/** An issuer that stands in no file and is an intermediate: for certain when it is known, likely when the leaf says where to get it. */
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
