/** What is wrong with the certificates of a path, each for itself and as the issuer of the one below it. Specification: TLS. */
import { EXPIRY_WARNING_DAYS } from '../../contract/index.ts';
import { keyFactsOf } from '../facts/certificate-facts.ts';
import { isKnownSignature } from '../facts/object-ids.ts';
import type { ChainFault } from './chain-analysis.ts';
import { type Link, verifies } from './link.ts';
import { DAY_MS, dayOf, days, nameOf, sentence, titleOf } from './wording.ts';

const RSA_BITS = 2048;
const EC_BITS = 256;

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
  const left = notAfter.getTime() - now.getTime();
  if (now < notBefore) {
    const wait = `${title} is valid only from ${notBefore.toISOString()} on`;
    return [
      'not-yet-valid',
      wait,
      'Install a certificate that is valid already, and check the clock of the machine that made it.',
    ];
  }
  if (left < 0) {
    return ['expired', `${title} expired on ${dayOf(notAfter)}, ${days(Math.floor(-left / DAY_MS))} ago`, fix];
  }
  if (left >= EXPIRY_WARNING_DAYS * DAY_MS) return null;
  return ['expires-soon', `${title} expires on ${dayOf(notAfter)}, in ${days(Math.floor(left / DAY_MS))}`, fix];
}

function key({ link, index, title }: Place): Verdict {
  const { kind, bits, curve } = keyFactsOf(link.certificate);
  const fix =
    index === 0
      ? 'Make a new key (RSA with 2048 bits or more, or P-256), and have the certificate issued anew for it.'
      : 'Have the certificate issued by an authority whose keys are all RSA with 2048 bits or more, or P-256 or better.';
  if (kind === 'dsa') return ['weak-key', `${title} has a DSA key, which no client takes any more`, fix];
  if (bits === null) return null;
  if (kind === 'rsa' && bits < RSA_BITS) {
    return ['weak-key', `${title} has an RSA key of ${bits} bits, and ${RSA_BITS} are the least`, fix];
  }
  if (kind !== 'ec' || bits >= EC_BITS) return null;
  return ['weak-key', `${title} has a key on the curve ${curve} of ${bits} bits, and ${EC_BITS} are the least`, fix];
}

/** A signature that cannot be verified here. OpenSSL refuses it too; when it does not, its word counts. */
function algorithm({ link, index, path, title }: Place): Verdict {
  const { certificate } = link;
  const issuer = path[index + 1];
  if (isKnownSignature(certificate.signature) || issuer === undefined) return null;
  if (verifies(issuer.certificate, certificate)) return null;
  const text = `${title} is signed with the algorithm ${certificate.signature}, which cannot be verified here`;
  return ['unexplained', text, 'Have the certificate issued anew with ECDSA or RSA over SHA-256 or better.'];
}

/** Nobody checks the signature of a root on itself. */
function signature({ link, title }: Place): Verdict {
  const hash = /-(md2|md4|md5|sha1)$/.exec(link.certificate.signature)?.[1];
  if (hash === undefined || link.selfSigned) return null;
  const text = `${title} is signed with ${link.certificate.signature}, and ${hash === 'sha1' ? 'SHA-1' : hash.toUpperCase()} can be forged`;
  return ['weak-signature', text, 'Have the certificate issued anew with a signature over SHA-256 or better.'];
}

/** Why the certificate may not issue others, or null when it may. OpenSSL is lenient with roots of X.509 version 1, which cannot say it. */
function notAuthority({ certificate, selfSigned }: Link): string | null {
  const { basicConstraints, keyUsage } = certificate.extensions;
  if (keyUsage?.signsCertificates === false) return 'its key usage does not include the signing of certificates';
  if (basicConstraints !== null) return basicConstraints.authority ? null : 'its basic constraints say CA:FALSE';
  const old = certificate.version === 1 && selfSigned;
  return old || keyUsage !== null ? null : 'it has no basic constraints that say CA:TRUE';
}

function authority({ link, index, path, title }: Place): Verdict {
  const below = path[index - 1];
  const why = below === undefined ? null : notAuthority(link);
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
  if (index === 0 || limit === null || notAuthority(link) !== null) return null;
  const below = path.slice(1, index).filter(({ certificate }) => certificate.subject.key !== certificate.issuer.key);
  if (below.length <= limit) return null;
  const text = `${title} allows ${limit} ${limit === 1 ? 'authority' : 'authorities'} below it (pathLenConstraint), and ${below.length} follow`;
  return [
    'path-too-long',
    text,
    'Have the certificate issued by an authority that is high enough, or that authority with a larger path length.',
  ];
}

/** "Any" does not stand for serverAuth: OpenSSL asks for that by name, and so do the rules of public authorities. */
function purpose({ link, index, title }: Place): Verdict {
  const { extendedKeyUsage: usages, keyUsage } = link.certificate.extensions;
  const fix =
    'Have the certificate issued anew for TLS servers (extended key usage serverAuth, key usage digitalSignature).';
  if (usages !== null && !usages.includes('serverAuth')) {
    const meant = usages.slice(0, 5).join(', ') || 'nothing';
    return ['wrong-purpose', `${title} is meant for ${meant} and not for servers (serverAuth)`, fix];
  }
  if (index > 0 || keyUsage === null || keyUsage.servesTls) return null;
  return ['wrong-purpose', `${title} has a key usage without digital signature: a TLS server cannot use its key`, fix];
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
