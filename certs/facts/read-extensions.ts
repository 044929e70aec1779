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
import { EXTENSION_IDS } from './extension-ids.ts';
import { ipFromBytes } from './ip-address.ts';
import { usageName } from './object-ids.ts';

/** A name that the certificate is for. A DNS name is as written; an address is canonical, or null when it is none. */
export type AlternativeName =
  | { readonly kind: 'dns'; readonly name: string }
  | { readonly kind: 'ip'; readonly name: string | null };

/** What key usages say that matters here. */
interface KeyUsage {
  readonly signsCertificates: boolean;
  /** Digital signature or key agreement: what a TLS client's key does. */
  readonly client: boolean;
  /** One of these, or key encipherment: what a TLS server's key does. */
  readonly server: boolean;
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
  return { signsCertificates: (bits & 0x04) !== 0, client: (bits & 0x88) !== 0, server: (bits & 0xa8) !== 0 };
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

/** One extension as it stands in the certificate: its identifier, the whole of it, and the DER of its value. */
export interface DerExtension {
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly value: Uint8Array;
}

/** The extensions in the SEQUENCE of them, in order; none when the certificate has no such part. */
export function listExtensions(sequence: DerElement | undefined): DerExtension[] {
  if (sequence === undefined) return [];
  return readParts(sequence, TAG.sequence, 'its list of extensions').map((extension) => {
    const parts = readParts(extension, TAG.sequence, 'an extension');
    const id = readObjectId(parts[0], 'the name of an extension');
    const octets = parts.at(-1);
    if (octets?.tag !== TAG.octetString) throw new TypeError(`its extension ${id} has no value`);
    return { id, bytes: extension.bytes, value: octets.content };
  });
}

/** Reads those that matter here. Of two of a kind the first counts. */
export function readExtensions(extensions: readonly DerExtension[]): CertificateExtensions {
  const read = <T>(name: keyof typeof EXTENSION_IDS, reader: (value: DerElement) => T): T | null => {
    const found = extensions.find(({ id }) => id === EXTENSION_IDS[name]);
    return found === undefined ? null : reader(readElement(found.value));
  };
  return {
    basicConstraints: read('basicConstraints', basicConstraints),
    keyUsage: read('keyUsage', keyUsage),
    extendedKeyUsage: read('extendedKeyUsage', (value) =>
      readParts(value, TAG.sequence, 'its extended key usage').map((id) => usageName(readObjectId(id, 'a key usage'))),
    ),
    alternativeNames: read('subjectAlternativeName', alternativeNames),
    issuerUrl: read('authorityInformationAccess', issuerUrl),
    mustStaple: read('tlsFeature', mustStaple) ?? false,
  };
}
