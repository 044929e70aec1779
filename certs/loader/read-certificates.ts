/** Reads certificates as PEM, alone or in bundles, or as DER. Specification: TLS (PEM preferred, DER accepted). */
import { X509Certificate } from 'node:crypto';
import { peekElement } from '../der.ts';
import { isInForce, subjectInWords, validityAt, validityOf } from '../facts/certificate-facts.ts';
import { isCa, isIssuedBy, isNamedBy, isSelfIssued, isSelfSigned, isSignedBy } from '../facts/read-certificate.ts';
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
import { mainKind, unreadable, wrongKind, wrongLines } from './wrong-form.ts';

/**
 * Reads the certificates in the order of the file. Ignores keys, parameters and text between them. A single unreadable
 * certificate makes the whole file unusable.
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
      return failed(wrongKind('certificate', mainKind(sniffed.blocks), source, 'pem'));
    }
  }
}

/** Encodes certificates as PEM, in this order. */
export function certificatesPem(certificates: readonly X509Certificate[]): string {
  return certificates.map((certificate) => certificate.toString()).join('');
}

/** Reads CA certificates to trust. Gives advice on those that cannot be the end of a trusted chain. */
export function readAuthorities(
  bytes: Uint8Array,
  { source, now = new Date() }: { source: MaterialSource; now?: Date },
): MaterialReading<readonly X509Certificate[]> {
  const reading = readCertificates(bytes, source);
  if (reading.value === undefined) return reading;
  return { ...reading, advice: [...adviceOnKeys(bytes, source), ...adviceOnCas(reading.value, source, now)] };
}

export interface OrderedChain {
  /** The leaf, followed by its issuers, including the root if the file contains it. */
  readonly chain: readonly X509Certificate[];
  /** True when the file lists the chain in a different order. */
  readonly reordered: boolean;
  readonly duplicates: number;
  /** Certificates of the file that do not belong to the chain, in the order of the file. */
  readonly unrelated: readonly X509Certificate[];
}

/** Orders a bundle as TLS requires: the leaf, followed by each issuer (RFC 8446, 4.4.2). */
export function orderChain(leaf: X509Certificate, certificates: readonly X509Certificate[], now: Date): OrderedChain {
  const distinct = certificates.filter((one, at) => certificates.findIndex(({ raw }) => raw.equals(one.raw)) === at);
  const chain = [leaf];
  for (let last: X509Certificate | undefined = leaf; last !== undefined && !isSelfIssued(last); ) {
    const below: X509Certificate = last;
    const issuers = distinct.filter((one) => !chain.includes(one) && leadsTo(below, one));
    // When a CA was renewed with the same key, the certificate that is currently valid is used.
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

/** Parses a certificate. Ignores bytes after it, such as OpenSSL's trust settings. */
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

/**
 * Returns true when a chain continues with this issuer. Unlike in OpenSSL, the issuer need not be a CA, so that a
 * finding can report it.
 */
function leadsTo(certificate: X509Certificate, issuer: X509Certificate): boolean {
  if (isIssuedBy(certificate, issuer)) return true;
  return isNamedBy(certificate, issuer) && !isCa(issuer) && isSignedBy(certificate, issuer);
}

function adviceOnCas(certificates: readonly X509Certificate[], source: MaterialSource, now: Date): MaterialAdvice[] {
  const name = sourceName(source);
  const expired = certificates.filter((one) => validityAt(validityOf(one), now) === 'expired');
  // A self-signed certificate can be trusted by itself.
  const notCa = certificates.filter((one) => !isCa(one) && !isSelfSigned(one));
  // An intermediate without its root cannot be trusted, because OpenSSL requires a root.
  const rootless = certificates.filter(
    (one) => isCa(one) && !isSelfIssued(one) && !certificates.some((other) => isIssuedBy(one, other)),
  );
  return [
    ...adviseOn('CA_EXPIRED', expired, 'which has expired', 'Get the newer certificate of the CA.'),
    ...adviseOn('CA_NOT_AUTHORITY', notCa, 'which is not a CA', 'Give the certificate of its issuer.'),
    ...adviseOn('CA_NOT_AUTHORITY', rootless, 'whose issuer is missing', 'Add the root: a chain must end at one.'),
  ];

  function adviseOn(
    code: MaterialAdvice['code'],
    which: readonly X509Certificate[],
    what: string,
    hint: string,
  ): MaterialAdvice[] {
    const [first, ...more] = which;
    if (first === undefined) return [];
    const others = more.length === 0 ? '' : ` and ${more.length} more`;
    return [{ code, about: 'certificate', what: `${name} contains ${subjectInWords(first)}${others}, ${what}`, hint }];
  }
}

function adviceOnKeys(bytes: Uint8Array, source: MaterialSource): MaterialAdvice[] {
  const sniffed = sniff(bytes);
  if (sniffed.form !== 'pem' || !sniffed.blocks.some(({ label }) => isPrivateKey(labelKind(label)))) return [];
  const what = `${sourceName(source)} contains a private key in addition to the CA certificate`;
  const hint = 'The key is not used. Do not distribute it with the certificate.';
  return [{ code: 'CA_WITH_KEY', about: 'certificate', what, hint }];
}
