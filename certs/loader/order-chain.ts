/** Puts the certificates of a bundle in the order in which TLS wants them: the leaf, then each one's issuer. RFC 8446, 4.4.2. */
import type { X509Certificate } from 'node:crypto';
import { isAuthority, isIssuedBy, isNamedBy, isSelfIssued, isSignedBy } from '../facts/issuing.ts';
import { isInForce } from '../facts/validity.ts';

export interface OrderedChain {
  /** The leaf first. A root at the end stays when it was given. */
  readonly chain: readonly X509Certificate[];
  /** Whether the certificates of the chain stood in another order. */
  readonly reordered: boolean;
  readonly duplicates: number;
  /** Certificates that belong to no link of the chain, in the order of the file. */
  readonly unrelated: readonly X509Certificate[];
}

export function orderChain(leaf: X509Certificate, certificates: readonly X509Certificate[], now: Date): OrderedChain {
  const distinct = certificates.filter((one, at) => certificates.findIndex(({ raw }) => raw.equals(one.raw)) === at);
  const chain = [leaf];
  for (let last: X509Certificate | undefined = leaf; last !== undefined && !isSelfIssued(last); ) {
    const below: X509Certificate = last;
    const issuers = distinct.filter((one) => !chain.includes(one) && comesFrom(below, one));
    // Of an authority that was renewed with the same key, the certificate that is valid.
    last = issuers.find((one) => isInForce(one, now)) ?? issuers[0];
    if (last !== undefined) chain.push(last);
  }
  return {
    chain,
    reordered: distinct.filter((one) => chain.includes(one)).some((one, at) => one !== chain[at]),
    duplicates: certificates.length - distinct.length,
    unrelated: distinct.filter((one) => !chain.includes(one)),
  };
}

/** OpenSSL takes no step to an issuer that is no authority. Here it is taken, because then what is wrong with it can be said. */
function comesFrom(certificate: X509Certificate, issuer: X509Certificate): boolean {
  if (isIssuedBy(certificate, issuer)) return true;
  return isNamedBy(certificate, issuer) && !isAuthority(issuer) && isSignedBy(certificate, issuer);
}
