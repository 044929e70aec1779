/** Reads certificates: PEM, alone or in a bundle with anything around them, or DER. Specification: TLS (PEM preferred, DER accepted). */
import { X509Certificate } from 'node:crypto';
import { peekElement } from '../der.ts';
import { isInForce, subjectInWords, validityAt, validityOf } from '../facts/certificate-facts.ts';
import {
  isAuthority,
  isIssuedBy,
  isNamedBy,
  isSelfIssued,
  isSelfSigned,
  isSignedBy,
} from '../facts/read-certificate.ts';
import {
  isPrivateKey,
  labelKind,
  type MaterialAdvice,
  type MaterialProblem,
  type MaterialReading,
  type MaterialSource,
  sourceName,
} from './finding.ts';
import type { PemBlock } from './pem.ts';
import { sniff } from './sniff.ts';
import { tellingKind, unreadable, wrongKind, wrongLines } from './wrong-form.ts';

/**
 * The certificates in the order of the file. Keys, parameters and text between them do not matter. One that cannot be read is a
 * problem of the whole file: a bundle with a hole in it would fail later, elsewhere.
 */
export function readCertificates(
  bytes: Uint8Array,
  source: MaterialSource,
): MaterialReading<readonly X509Certificate[]> {
  const sniffed = sniff(bytes);
  switch (sniffed.form) {
    case 'broken-pem':
      return failed(wrongLines('certificate', sniffed.fault, source));
    case 'other':
      return failed(wrongKind('certificate', sniffed.kind, source, 'other'));
    case 'der':
      if (sniffed.kind !== 'certificate' && sniffed.kind !== 'unknown') {
        return failed(wrongKind('certificate', sniffed.kind, source, 'der'));
      }
      return all([{ der: sniffed.bytes, label: undefined }], source);
    case 'pem': {
      const blocks = sniffed.blocks.filter(({ label }) => labelKind(label) === 'certificate');
      if (blocks.length > 0) return all(blocks, source);
      return failed(wrongKind('certificate', tellingKind(sniffed.blocks), source, 'pem'));
    }
  }
}

/** Certificates as PEM, one after the other. */
export function certificatesPem(certificates: readonly X509Certificate[]): string {
  return certificates.map((certificate) => certificate.toString()).join('');
}

function all(
  blocks: readonly { der: PemBlock['der']; label: string | undefined }[],
  source: MaterialSource,
): MaterialReading<readonly X509Certificate[]> {
  const certificates: X509Certificate[] = [];
  for (const { der, label } of blocks) {
    const certificate = der === undefined ? undefined : parse(der);
    if (certificate === undefined) return failed(unreadable('certificate', der, source, label));
    certificates.push(certificate);
  }
  return { value: certificates, problems: [], advice: [] };
}

/** What stands after the certificate, such as the trust settings of OpenSSL, is left out. */
function parse(der: Buffer): X509Certificate | undefined {
  const length = peekElement(der)?.length;
  if (length === undefined || length > der.length) return undefined;
  try {
    return new X509Certificate(der.subarray(0, length));
  } catch {
    return undefined;
  }
}

function failed(problem: MaterialProblem): MaterialReading<never> {
  return { value: undefined, problems: [problem], advice: [] };
}

/** Puts the certificates of a bundle in the order in which TLS wants them: the leaf, then each one's issuer. RFC 8446, 4.4.2. */

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

/** Reads certificates of authorities to trust. */

/** The certificates of the file, with advice on those that nothing can be traced to. */
export function readAuthorities(
  bytes: Uint8Array,
  { source, now = new Date() }: { source: MaterialSource; now?: Date },
): MaterialReading<readonly X509Certificate[]> {
  const reading = readCertificates(bytes, source);
  if (reading.value === undefined) return reading;
  return { ...reading, advice: [...adviceOnKeys(bytes, source), ...adviceOn(reading.value, source, now)] };
}

function adviceOn(certificates: readonly X509Certificate[], source: MaterialSource, now: Date): MaterialAdvice[] {
  const name = sourceName(source);
  const expired = certificates.filter((one) => validityAt(validityOf(one), now) === 'expired');
  // One that is signed by itself can be trusted for itself, whatever it says.
  const noAuthority = certificates.filter((one) => !isAuthority(one) && !isSelfSigned(one));
  // An intermediate certificate alone is no anchor: OpenSSL goes on to a root.
  const rootless = certificates.filter(
    (one) => isAuthority(one) && !isSelfIssued(one) && !certificates.some((other) => isIssuedBy(one, other)),
  );
  return [
    ...say('CA_EXPIRED', expired, 'which has expired', 'Get the newer one of the authority.'),
    ...say('CA_NOT_AUTHORITY', noAuthority, 'which is no authority', 'Give the certificate that issued it.'),
    ...say('CA_NOT_AUTHORITY', rootless, 'whose own issuer is not there', 'Add the root: a chain is traced to one.'),
  ];

  function say(
    code: MaterialAdvice['code'],
    which: readonly X509Certificate[],
    what: string,
    hint: string,
  ): MaterialAdvice[] {
    const [first, ...more] = which;
    if (first === undefined) return [];
    const others = more.length === 0 ? '' : ` and ${more.length} more`;
    return [{ code, about: 'certificate', what: `${name} holds ${subjectInWords(first)}${others}, ${what}`, hint }];
  }
}

function adviceOnKeys(bytes: Uint8Array, source: MaterialSource): MaterialAdvice[] {
  const sniffed = sniff(bytes);
  if (sniffed.form !== 'pem' || !sniffed.blocks.some(({ label }) => isPrivateKey(labelKind(label)))) return [];
  const what = `${sourceName(source)} holds a private key beside the authority`;
  const hint = 'It is not read here. Keep it out of a file that is handed on.';
  return [{ code: 'CA_WITH_KEY', about: 'certificate', what, hint }];
}
