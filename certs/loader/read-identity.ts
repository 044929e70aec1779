/** Reads a certificate and its key, and checks that they can be used together. Specification: TLS. */

import type { KeyObject, X509Certificate } from 'node:crypto';
import { isInForce, type Purpose, subjectInWords } from '../facts/certificate-facts.ts';
import { keyInWords, publicKeyOf } from '../facts/key-facts.ts';
import { checkChain, checkLeaf } from './check-identity.ts';
import {
  certificateName,
  type MaterialProblem,
  type MaterialReading,
  type MaterialSource,
  shellName,
  sourceName,
} from './finding.ts';
import { orderChain, readCertificates } from './read-certificates.ts';
import { readPrivateKey } from './read-private-key.ts';

export interface MaterialFile {
  readonly bytes: Uint8Array;
  readonly source: MaterialSource;
}

export interface IdentityOptions {
  readonly cert: MaterialFile;
  readonly key: MaterialFile;
  readonly passphrase?: string | undefined;
  /** What the certificate is used for. */
  readonly purpose: Purpose;
  /** Time of the check. Default: the current time. */
  readonly now?: Date;
  /** CA certificates that the caller knows. They help to detect a missing intermediate. */
  readonly authorities?: readonly X509Certificate[];
}

/** A certificate with its key. */
export interface Identity {
  /** The certificate of the key, followed by the issuers that the file contains. */
  readonly chain: readonly [leaf: X509Certificate, ...issuers: X509Certificate[]];
  readonly key: KeyObject;
  /** The key as unencrypted PKCS#8 PEM. */
  readonly keyPem: string;
}

/**
 * Finds the certificate of the key in its file, and orders its chain. `value` is set when the certificate and the key
 * belong together. Problems can still state why a peer would reject the certificate: expired, not yet valid, too weak,
 * or for another purpose.
 */
export function readIdentity(options: IdentityOptions): MaterialReading<Identity> {
  const { cert, key, passphrase, purpose, now = new Date(), authorities = [] } = options;
  const certificates = readCertificates(cert.bytes, cert.source);
  const privateKey = readPrivateKey(key.bytes, { source: key.source, passphrase });
  const unread = [...certificates.problems, ...privateKey.problems];
  if (certificates.value === undefined || privateKey.value === undefined) {
    const isSwapped = ['CERT_IS_KEY', 'KEY_IS_CERTIFICATE'].every((swapped) =>
      unread.some(({ code }) => code === swapped),
    );
    return { value: undefined, problems: isSwapped ? [swappedFiles(cert, key)] : unread, advice: [] };
  }
  const object = privateKey.value.key;
  const matching = certificates.value.filter((certificate) => belongsTo(certificate, object));
  const leaf = matching.find((one) => isInForce(one, now)) ?? matching[0];
  if (leaf === undefined) {
    return { value: undefined, problems: [keyMismatch(certificates.value, object, cert, key)], advice: [] };
  }
  const ordered = orderChain(leaf, certificates.value, now);
  const [, ...issuers] = ordered.chain;
  const name = `${certificateName(cert.source)}${certificates.value.length === 1 ? '' : ` (${subjectInWords(leaf)})`}`;
  const found = checkLeaf(leaf, name, purpose, now);
  return {
    value: { chain: [leaf, ...issuers], key: object, keyPem: privateKey.value.pem },
    problems: found.problems,
    advice: [...privateKey.advice, ...found.advice, ...checkChain(ordered, sourceName(cert.source), authorities, now)],
  };
}

function belongsTo(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    return certificate.checkPrivateKey(key);
  } catch {
    return false;
  }
}

function swappedFiles(cert: MaterialFile, key: MaterialFile): MaterialProblem {
  return {
    code: 'PAIR_SWAPPED',
    about: 'certificate',
    what: `${sourceName(cert.source)} contains a private key, and ${sourceName(key.source)} contains a certificate`,
    hint: 'The two are swapped: exchange them.',
  };
}

function keyMismatch(
  certificates: readonly X509Certificate[],
  key: KeyObject,
  cert: MaterialFile,
  keyFile: MaterialFile,
): MaterialProblem {
  const name = sourceName(keyFile.source);
  const [first] = certificates;
  const ours = keyInWords(key);
  const theirKey = first && publicKeyOf(first);
  const theirs = theirKey === undefined ? 'of an unknown type' : keyInWords(theirKey);
  const what =
    certificates.length > 1
      ? `${name} belongs to none of the ${certificates.length} certificates in ${sourceName(cert.source)}`
      : theirs === ours
        ? `${name} does not belong to ${certificateName(cert.source)}`
        : `${name} (${ours}) differs in type from the key of ${certificateName(cert.source)} (${theirs})`;
  const hint =
    'Give the key that belongs to the certificate. For a matching pair, both commands print the same key: openssl ' +
    `x509 -in ${shellName(cert.source)} -noout -pubkey; openssl pkey -in ${shellName(keyFile.source)} -pubout.`;
  return { code: 'KEY_OTHER_PAIR', about: 'key', what, hint };
}
