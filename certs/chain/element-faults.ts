/** The faults of each certificate in a path, by itself and as the issuer of the one below it. Specification: TLS. */

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

const RENEW_LEAF = 'Renew the certificate, and install the new one together with its chain.';
const RENEW_ISSUER =
  'Install the current intermediates of your CA, or get a certificate from a CA whose certificate is valid.';

interface Element {
  readonly link: Link;
  readonly index: number;
  readonly path: readonly Link[];
  readonly now: Date;
  /** "the leaf CN=hooks.example". */
  readonly title: string;
}

type Verdict = readonly [code: ChainFault['code'], text: string, fix: string] | null;

/** Returns the faults of all certificates in the path, including the trusted root. */
export function elementFaults(path: readonly Link[], now: Date): ChainFault[] {
  return path.flatMap((link, index) => {
    const element: Element = { link, index, path, now, title: titleOf(link, path[0]) };
    return CHECKS.flatMap((check): ChainFault[] => {
      const verdict = check(element);
      return verdict === null ? [] : [{ code: verdict[0], at: link.at, text: sentence(verdict[1]), fix: verdict[2] }];
    });
  });
}

function dates({ link, index, now, title }: Element): Verdict {
  const { notBefore, notAfter } = link.certificate;
  const fix = index === 0 ? RENEW_LEAF : RENEW_ISSUER;
  switch (validityAt(link.certificate, now)) {
    case 'expired':
      return ['expired', `${title} expired on ${dayOf(notAfter)}, ${days(daysBetween(notAfter, now))} ago`, fix];
    case 'not-yet-valid':
      return [
        'not-yet-valid',
        `${title} is not valid before ${notBefore.toISOString()}`,
        'Install a certificate that is already valid, and check the clock of the issuing machine.',
      ];
    case 'expires-soon':
      return ['expires-soon', `${title} expires on ${dayOf(notAfter)}, in ${days(daysBetween(now, notAfter))}`, fix];
    case 'valid':
      return null;
  }
}

/** Leaves keys of an unknown type to OpenSSL. */
function key({ link, index, title }: Element): Verdict {
  const facts = keyFactsOf(publicKeyOf(link.certificate.x509));
  if (keyStrength(facts) !== 'weak') return null;
  const fix =
    index === 0
      ? 'Generate a new key (RSA with 2048 bits or more, or P-256), and get a certificate for it.'
      : 'Get a certificate from a CA whose keys are all RSA with 2048 bits or more, or P-256 or stronger.';
  return ['weak-key', `${title} has ${weakKeyText(facts)}`, fix];
}

function weakKeyText({ kind, bits, curve }: KeyFacts): string {
  if (kind === 'dsa') return 'a DSA key, which clients no longer accept';
  if (kind === 'rsa') return `an RSA key of ${bits} bits; the minimum is ${LIMITS.minimumRsaBits}`;
  return bits === null
    ? `a key on the curve ${curve ?? 'without a name'}, whose strength is unknown`
    : `a key on the curve ${curve} of ${bits} bits; the minimum is ${MINIMUM_CURVE_BITS}`;
}

/** A signature that cannot be verified here. The verdict of OpenSSL overrides this fault. */
function algorithm({ link, index, path, title }: Element): Verdict {
  const { certificate } = link;
  const issuer = path[index + 1];
  if (isKnownSignature(certificate.signature) || issuer === undefined) return null;
  if (isSignedBy(certificate.x509, issuer.certificate.x509)) return null;
  const text = `${title} is signed with the algorithm ${certificate.signature}, which cannot be verified here`;
  return ['unexplained', text, 'Get the certificate reissued with ECDSA or RSA and SHA-256 or stronger.'];
}

/** The signature of a self-signed certificate does not matter. */
function signature({ link, title }: Element): Verdict {
  const hash = weakHashOf(link.certificate.signature);
  if (hash === null || link.selfSigned) return null;
  const text = `${title} is signed with ${link.certificate.signature}, and ${hash} can be forged`;
  return ['weak-signature', text, 'Get the certificate reissued with a signature with SHA-256 or stronger.'];
}

function issuerRole({ link, index, path, title }: Element): Verdict {
  const below = path[index - 1];
  const why = below === undefined ? null : whyNotCa(link.certificate, link.selfSigned);
  if (below === undefined || why === null) return null;
  const text = `${title} issued ${nameOf(below.certificate)} but is not a CA: ${why}`;
  return ['issuer-not-authority', text, 'Get a certificate from a CA (CA:TRUE, with the key usage keyCertSign).'];
}

function pathLength({ link, index, path, title }: Element): Verdict {
  const limit = link.certificate.extensions.basicConstraints?.pathLength ?? null;
  if (index === 0 || limit === null || whyNotCa(link.certificate, link.selfSigned) !== null) return null;
  const below = path.slice(1, index).filter(({ certificate }) => certificate.subject.key !== certificate.issuer.key);
  if (below.length <= limit) return null;
  const allowed = limit === 1 ? '1 CA' : `${limit} CAs`;
  const text = `${title} allows ${allowed} below it (pathLenConstraint), but ${below.length} follow`;
  return [
    'path-too-long',
    text,
    'Get a certificate from a CA closer to the root, or reissue the CA with a larger path length.',
  ];
}

/** Every certificate with an extended key usage must include serverAuth, as OpenSSL and public CAs require. */
function purpose({ link, index, title }: Element): Verdict {
  const { extensions } = link.certificate;
  const fault = purposeFault('server', extensions);
  if (fault === null || (fault === 'no-signing' && index > 0)) return null;
  const fix =
    'Get the certificate reissued for TLS servers (extended key usage serverAuth, key usage digitalSignature).';
  if (fault === 'no-signing') {
    return [
      'wrong-purpose',
      `${title} has a key usage without digital signature: a TLS server cannot use its key`,
      fix,
    ];
  }
  const meant = extensions.extendedKeyUsage?.slice(0, 5).join(', ') || 'nothing';
  return ['wrong-purpose', `${title} is for ${meant}, not for servers (serverAuth)`, fix];
}

const CHECKS = [dates, key, algorithm, signature, issuerRole, pathLength, purpose];
