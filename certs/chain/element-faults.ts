/** What is wrong with the certificates of a path, each for itself and as the issuer of the one below it. Specification: TLS. */
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
import { isSignedBy, whyNoAuthority } from '../facts/read-certificate.ts';
import { sentence } from '../facts/wording.ts';
import { type ChainFault, dayOf, days, nameOf, titleOf } from './chain-analysis.ts';
import type { Link } from './chain-path.ts';

const RENEW_LEAF = 'Renew the certificate, and install the new one together with its chain.';
const RENEW_ISSUER =
  'Install the current intermediates of your authority, or have the certificate issued by one that is in force.';

interface Place {
  readonly link: Link;
  readonly index: number;
  readonly path: readonly Link[];
  readonly now: Date;
  /** "the leaf CN=hooks.example". */
  readonly title: string;
}

type Verdict = readonly [code: ChainFault['code'], text: string, fix: string] | null;

function dates({ link, index, now, title }: Place): Verdict {
  const { notBefore, notAfter } = link.certificate;
  const fix = index === 0 ? RENEW_LEAF : RENEW_ISSUER;
  switch (validityAt(link.certificate, now)) {
    case 'expired':
      return ['expired', `${title} expired on ${dayOf(notAfter)}, ${days(daysBetween(notAfter, now))} ago`, fix];
    case 'not-yet-valid':
      return [
        'not-yet-valid',
        `${title} is valid only from ${notBefore.toISOString()} on`,
        'Install a certificate that is valid already, and check the clock of the machine that made it.',
      ];
    case 'expires-soon':
      return ['expires-soon', `${title} expires on ${dayOf(notAfter)}, in ${days(daysBetween(now, notAfter))}`, fix];
    case 'valid':
      return null;
  }
}

/** A key of a kind that nobody here knows is for OpenSSL to judge. */
function key({ link, index, title }: Place): Verdict {
  const facts = keyFactsOf(publicKeyOf(link.certificate.x509));
  if (keyStrength(facts) !== 'weak') return null;
  const fix =
    index === 0
      ? 'Make a new key (RSA with 2048 bits or more, or P-256), and have the certificate issued anew for it.'
      : 'Have the certificate issued by an authority whose keys are all RSA with 2048 bits or more, or P-256 or better.';
  return ['weak-key', `${title} has ${weakKeyInWords(facts)}`, fix];
}

function weakKeyInWords({ kind, bits, curve }: KeyFacts): string {
  if (kind === 'dsa') return 'a DSA key, which no client takes any more';
  if (kind === 'rsa') return `an RSA key of ${bits} bits, and ${LIMITS.minimumRsaBits} are the least`;
  return bits === null
    ? `a key on the curve ${curve ?? 'without a name'}, whose strength is not known`
    : `a key on the curve ${curve} of ${bits} bits, and ${MINIMUM_CURVE_BITS} are the least`;
}

/** A signature that cannot be verified here. OpenSSL refuses it too; when it does not, its word counts. */
function algorithm({ link, index, path, title }: Place): Verdict {
  const { certificate } = link;
  const issuer = path[index + 1];
  if (isKnownSignature(certificate.signature) || issuer === undefined) return null;
  if (isSignedBy(certificate.x509, issuer.certificate.x509)) return null;
  const text = `${title} is signed with the algorithm ${certificate.signature}, which cannot be verified here`;
  return ['unexplained', text, 'Have the certificate issued anew with ECDSA or RSA over SHA-256 or better.'];
}

/** Nobody checks the signature of a certificate on itself. */
function signature({ link, title }: Place): Verdict {
  const hash = weakHashOf(link.certificate.signature);
  if (hash === null || link.selfSigned) return null;
  const text = `${title} is signed with ${link.certificate.signature}, and ${hash} can be forged`;
  return ['weak-signature', text, 'Have the certificate issued anew with a signature over SHA-256 or better.'];
}

function authority({ link, index, path, title }: Place): Verdict {
  const below = path[index - 1];
  const why = below === undefined ? null : whyNoAuthority(link.certificate, link.selfSigned);
  if (below === undefined || why === null) return null;
  const text = `${title} issued ${nameOf(below.certificate)}, but it is no authority: ${why}`;
  return [
    'issuer-not-authority',
    text,
    'Have the certificate issued by an authority (CA:TRUE, with the key usage keyCertSign).',
  ];
}

function pathLength({ link, index, path, title }: Place): Verdict {
  const limit = link.certificate.extensions.basicConstraints?.pathLength ?? null;
  if (index === 0 || limit === null || whyNoAuthority(link.certificate, link.selfSigned) !== null) return null;
  const below = path.slice(1, index).filter(({ certificate }) => certificate.subject.key !== certificate.issuer.key);
  if (below.length <= limit) return null;
  const text = `${title} allows ${limit} ${limit === 1 ? 'authority' : 'authorities'} below it (pathLenConstraint), and ${below.length} follow`;
  return [
    'path-too-long',
    text,
    'Have the certificate issued by an authority that is high enough, or that authority with a larger path length.',
  ];
}

/** Every element needs the extended key usage when it has one: OpenSSL asks for it by name, and so do the rules of public authorities. */
function purpose({ link, index, title }: Place): Verdict {
  const { extensions } = link.certificate;
  const fault = purposeFault('server', extensions);
  if (fault === null || (fault === 'no-signing' && index > 0)) return null;
  const fix =
    'Have the certificate issued anew for TLS servers (extended key usage serverAuth, key usage digitalSignature).';
  if (fault === 'no-signing') {
    return [
      'wrong-purpose',
      `${title} has a key usage without digital signature: a TLS server cannot use its key`,
      fix,
    ];
  }
  const meant = extensions.extendedKeyUsage?.slice(0, 5).join(', ') || 'nothing';
  return ['wrong-purpose', `${title} is meant for ${meant} and not for servers (serverAuth)`, fix];
}

const CHECKS = [dates, key, algorithm, signature, authority, pathLength, purpose];

/** All of it for every element of the path, the trusted root included. */
export function elementFaults(path: readonly Link[], now: Date): ChainFault[] {
  return path.flatMap((link, index) => {
    const place: Place = { link, index, path, now, title: titleOf(link, path[0]) };
    return CHECKS.flatMap((check): ChainFault[] => {
      const verdict = check(place);
      return verdict === null ? [] : [{ code: verdict[0], at: link.at, text: sentence(verdict[1]), fix: verdict[2] }];
    });
  });
}
