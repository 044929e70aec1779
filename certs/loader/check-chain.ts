/** What is unwise about the certificates around a leaf. Each of it is advice: a server may know the chain by itself. */
import type { X509Certificate } from 'node:crypto';
import { isAuthority, isIssuedBy, isSelfIssued, isSelfSigned } from '../facts/issuing.ts';
import { keyFactsOf, keyInWords, keyStrength, publicKeyOf } from '../facts/key-facts.ts';
import { issuerInWords, subjectInWords } from '../facts/names-in-words.ts';
import { weakHashOf } from '../facts/object-ids.ts';
import { readingOf } from '../facts/read-certificate.ts';
import { validityAt, validityOf } from '../facts/validity.ts';
import type { MaterialAdvice, MaterialAdviceCode } from './finding.ts';
import type { OrderedChain } from './order-chain.ts';

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
