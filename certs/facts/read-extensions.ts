/** The extensions of a certificate that decide whether a server may use it. RFC 5280, 4.2. */
import {
  type DerElement,
  readElement,
  readElements,
  readObjectId,
  readParts,
  readSmallInteger,
} from '../der/read-der.ts';
import { TAG } from '../der/tags.ts';
import { ipFromBytes } from './ip-address.ts';
import { usageName } from './object-ids.ts';

/** A name that the certificate is for. A DNS name is as written; an address is canonical, or null when it is none. */
export type AlternativeName =
  | { readonly kind: 'dns'; readonly name: string }
  | { readonly kind: 'ip'; readonly name: string | null };

/** What key usages say that matters here. */
interface KeyUsage {
  readonly signsCertificates: boolean;
  /** Digital signature, key encipherment or key agreement: what a TLS server's key does. */
  readonly servesTls: boolean;
}

export interface CertificateExtensions {
  readonly basicConstraints: { readonly authority: boolean; readonly pathLength: number | null } | null;
  readonly keyUsage: KeyUsage | null;
  readonly extendedKeyUsage: readonly string[] | null;
  /** DNS names and addresses of the subject alternative name; null when the extension is absent. */
  readonly alternativeNames: readonly AlternativeName[] | null;
  readonly issuerUrl: string | null;
  readonly mustStaple: boolean;
}

const KEY_USAGE = '2.5.29.15';
const ALTERNATIVE_NAME = '2.5.29.17';
const BASIC_CONSTRAINTS = '2.5.29.19';
const EXTENDED_KEY_USAGE = '2.5.29.37';
const AUTHORITY_ACCESS = '1.3.6.1.5.5.7.1.1';
const TLS_FEATURE = '1.3.6.1.5.5.7.1.24';

const CA_ISSUERS = '1.3.6.1.5.5.7.48.2';
/** The number of the status_request extension of TLS (RFC 7633): OCSP stapling. */
const STATUS_REQUEST = 5;

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

function basicConstraints(value: DerElement): CertificateExtensions['basicConstraints'] {
  const parts = readParts(value, TAG.sequence, 'its basic constraints');
  const authority = parts[0]?.tag === TAG.boolean && parts[0].content[0] !== 0;
  const length = parts.find(({ tag }) => tag === TAG.integer);
  return { authority, pathLength: length === undefined ? null : readSmallInteger(length, 'its path length') };
}

function keyUsage(value: DerElement): KeyUsage {
  if (value.tag !== TAG.bitString) throw new TypeError('its key usage is no bit string');
  // Bit 0, the highest, is digitalSignature; 2 keyEncipherment; 4 keyAgreement; 5 keyCertSign.
  const bits = value.content[1] ?? 0;
  return { signsCertificates: (bits & 0x04) !== 0, servesTls: (bits & 0xa8) !== 0 };
}

function alternativeNames(value: DerElement): AlternativeName[] {
  const names: AlternativeName[] = [];
  for (const { tag, content } of readParts(value, TAG.sequence, 'its subject alternative name')) {
    if (tag === 0x82) names.push({ kind: 'dns', name: latin1(content) });
    if (tag === 0x87) names.push({ kind: 'ip', name: ipFromBytes(content) });
  }
  return names;
}

function issuerUrl(value: DerElement): string | null {
  const urls: string[] = [];
  for (const description of readParts(value, TAG.sequence, 'its authority information access')) {
    const [method, location] = readElements(description.content);
    if (readObjectId(method, 'an access method') !== CA_ISSUERS || location?.tag !== 0x86) continue;
    urls.push(latin1(location.content));
  }
  return urls.find((url) => /^https?:/i.test(url)) ?? urls[0] ?? null;
}

function mustStaple(value: DerElement): boolean {
  const features = readParts(value, TAG.sequence, 'its TLS feature extension');
  return features.some((feature) => readSmallInteger(feature, 'a TLS feature') === STATUS_REQUEST);
}

/** Reads the SEQUENCE of extensions, or undefined when the certificate has none. */
export function readExtensions(sequence: DerElement | undefined): CertificateExtensions {
  const values = new Map<string, DerElement>();
  if (sequence !== undefined) {
    for (const extension of readParts(sequence, TAG.sequence, 'its list of extensions')) {
      const parts = readParts(extension, TAG.sequence, 'an extension');
      const id = readObjectId(parts[0], 'the name of an extension');
      const octets = parts.at(-1);
      if (octets?.tag !== TAG.octetString) throw new TypeError(`its extension ${id} has no value`);
      if (READ.has(id) && !values.has(id)) values.set(id, readElement(octets.content));
    }
  }
  const read = <T>(id: string, reader: (value: DerElement) => T): T | null => {
    const value = values.get(id);
    return value === undefined ? null : reader(value);
  };
  return {
    basicConstraints: read(BASIC_CONSTRAINTS, basicConstraints),
    keyUsage: read(KEY_USAGE, keyUsage),
    extendedKeyUsage: read(EXTENDED_KEY_USAGE, (value) =>
      readParts(value, TAG.sequence, 'its extended key usage').map((id) => usageName(readObjectId(id, 'a key usage'))),
    ),
    alternativeNames: read(ALTERNATIVE_NAME, alternativeNames),
    issuerUrl: read(AUTHORITY_ACCESS, issuerUrl),
    mustStaple: read(TLS_FEATURE, mustStaple) ?? false,
  };
}

const READ = new Set([
  KEY_USAGE,
  ALTERNATIVE_NAME,
  BASIC_CONSTRAINTS,
  EXTENDED_KEY_USAGE,
  AUTHORITY_ACCESS,
  TLS_FEATURE,
]);
