/** Reads certificates: PEM, alone or in a bundle with anything around them, or DER. Specification: TLS (PEM preferred, DER accepted). */
import { X509Certificate } from 'node:crypto';
import { peekElement } from '../der/peek-der.ts';
import type { MaterialProblem, MaterialReading, MaterialSource } from './finding.ts';
import { labelKind } from './material-words.ts';
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
