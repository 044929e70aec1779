/**
 * Finds the faults of each certificate in a path, including its faults as the issuer of the certificate below it.
 * Specification: TLS.
 */

import { LIMITS } from '../../contract/index.ts';
import { daysBetween, purposeFault, validityAt } from '../facts/certificate-facts.ts';
import {
  isKnownSignature,
  type KeyFacts,
  keyFactsOf,
  keyStrength,
  MINIMUM_CURVE_BITS,
  publicKeyOf,
  weakHashOf,
} from '../facts/key-facts.ts';
import { isSignedBy, whyNotCa } from '../facts/read-certificate.ts';
import { sentence } from '../facts/wording.ts';
import { type ChainFault, dayOf, days, nameOf, titleOf } from './chain-analysis.ts';
import type { Link } from './chain-path.ts';

interface Element {
  readonly link: Link;
  readonly index: number;
  readonly path: readonly Link[];
  readonly now: Date;
  /** Role and name of the certificate: "the leaf CN=hooks.example". */
  readonly title: string;
}

type FaultText = readonly [code: ChainFault['code'], text: string] | null;

/** Returns the faults of all certificates in the path, including the trusted root. */
export function elementFaults(path: readonly Link[], now: Date): ChainFault[] {
  return path.flatMap((link, index) => {
    const element: Element = { link, index, path, now, title: titleOf(link, path[0]) };
    return CHECKS.flatMap((check): ChainFault[] => {
      const verdict = check(element);
      return verdict === null ? [] : [{ code: verdict[0], at: link.at, text: sentence(verdict[1]) }];
    });
  });
}

function dates({ link, now, title }: Element): FaultText {
  const { notBefore, notAfter } = link.certificate;
  switch (validityAt(link.certificate, now)) {
    case 'expired':
      return ['expired', `${title} expired on ${dayOf(notAfter)}, ${days(daysBetween(notAfter, now))} ago`];
    case 'not-yet-valid':
      return ['not-yet-valid', `${title} is not valid before ${notBefore.toISOString()}`];
    case 'expires-soon':
      return ['expires-soon', `${title} expires on ${dayOf(notAfter)}, in ${days(daysBetween(now, notAfter))}`];
    case 'valid':
      return null;
  }
}

/** Reports keys that are too weak. Keys of an unknown type are left to OpenSSL. */
function key({ link, title }: Element): FaultText {
  const facts = keyFactsOf(publicKeyOf(link.certificate.x509));
  if (keyStrength(facts) !== 'weak') return null;
  return ['weak-key', `${title} has ${weakKeyText(facts)}`];
}

function weakKeyText({ kind, bits, curve }: KeyFacts): string {
  if (kind === 'dsa') return 'a DSA key, which clients no longer accept';
  if (kind === 'rsa') return `an RSA key of ${bits} bits; the minimum is ${LIMITS.minimumRsaBits}`;
  return bits === null
    ? `a key on ${curve === null ? 'an unnamed curve' : `the curve ${curve}`}, whose strength is unknown`
    : `a key on the curve ${curve} of ${bits} bits; the minimum is ${MINIMUM_CURVE_BITS}`;
}

/**
 * Reports a signature algorithm that this analysis cannot verify. OpenSSL's verdict takes precedence over this fault.
 */
function algorithm({ link, index, path, title }: Element): FaultText {
  const { certificate } = link;
  const issuer = path[index + 1];
  if (isKnownSignature(certificate.signature) || issuer === undefined) return null;
  if (isSignedBy(certificate.x509, issuer.certificate.x509)) return null;
  const text = `${title} is signed with the algorithm ${certificate.signature}, which cannot be verified here`;
  return ['unexplained', text];
}

/** Reports weak signatures, except those of self-signed certificates, which do not matter. */
function signature({ link, title }: Element): FaultText {
  const hash = weakHashOf(link.certificate.signature);
  if (hash === null || link.selfSigned) return null;
  const text = `${title} is signed with ${link.certificate.signature}, and ${hash} can be forged`;
  return ['weak-signature', text];
}

function issuerRole({ link, index, path, title }: Element): FaultText {
  const below = path[index - 1];
  const why = below === undefined ? null : whyNotCa(link.certificate, link.selfSigned);
  if (below === undefined || why === null) return null;
  const text = `${title} issued ${nameOf(below.certificate)} but is not a CA: ${why}`;
  return ['issuer-not-authority', text];
}

function pathLength({ link, index, path, title }: Element): FaultText {
  const limit = link.certificate.extensions.basicConstraints?.pathLength ?? null;
  if (index === 0 || limit === null || whyNotCa(link.certificate, link.selfSigned) !== null) return null;
  const below = path.slice(1, index).filter(({ certificate }) => certificate.subject.key !== certificate.issuer.key);
  if (below.length <= limit) return null;
  const allowed = limit === 1 ? '1 CA' : `${limit} CAs`;
  const text = `${title} allows ${allowed} below it (pathLenConstraint), but ${below.length} follow`;
  return ['path-too-long', text];
}

/**
 * Reports an extended key usage without serverAuth, which OpenSSL and public CAs require at every level, and a key
 * usage of the leaf that does not suit a TLS server.
 */
function purpose({ link, index, title }: Element): FaultText {
  const { extensions } = link.certificate;
  const fault = purposeFault('server', extensions);
  if (fault === null || (fault === 'no-signing' && index > 0)) return null;
  if (fault === 'no-signing') {
    return ['wrong-purpose', `${title} has a key usage without digital signature: a TLS server cannot use its key`];
  }
  const meant = extensions.extendedKeyUsage?.slice(0, 5).join(', ') || 'nothing';
  return ['wrong-purpose', `${title} is for ${meant}, not for servers (serverAuth)`];
}

const CHECKS = [dates, key, algorithm, signature, issuerRole, pathLength, purpose];
