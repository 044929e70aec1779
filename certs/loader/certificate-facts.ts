/** What Node does not say about a certificate, read from its DER, and its names in words. RFC 5280. */
import type { KeyObject, X509Certificate } from 'node:crypto';
import { peekElement, peekParts } from '../der/peek-der.ts';
import { TAG } from '../der/tags.ts';

/** Signature algorithms with a hash that no longer protects, by object identifier. */
const WEAK_SIGNATURES: ReadonlyMap<string, string> = new Map([
  ['2a864886f70d010102', 'MD2'],
  ['2a864886f70d010104', 'MD5'],
  ['2a864886f70d010105', 'SHA-1'],
  ['2a8648ce3d0401', 'SHA-1'],
  ['2a8648ce380403', 'SHA-1'],
  ['2b0e03021d', 'SHA-1'],
]);
const KEY_USAGE = '551d0f';
const AUTHORITY_KEY = '551d23';

/** The hash of the signature when it is one that no longer protects; undefined for every other. */
export function weakSignatureHash(certificate: X509Certificate): string | undefined {
  const [oid] = peekParts(peekParts(peekElement(certificate.raw))[1]);
  return oid === undefined ? undefined : WEAK_SIGNATURES.get(hex(oid.content));
}

/** Whether the key may sign or agree on keys, which TLS needs; true when the certificate does not limit its key. */
export function maySignHandshakes(certificate: X509Certificate): boolean {
  const usage = extension(certificate, KEY_USAGE);
  const bits = usage === undefined ? undefined : peekElement(usage)?.content[1];
  // Bit 0 is digitalSignature, bit 4 is keyAgreement, counted from the most significant.
  return bits === undefined || (bits & 0b1000_1000) !== 0;
}

/** The identifier of the key that signed the certificate, when the certificate has one. */
export function authorityKeyId(certificate: X509Certificate): string | undefined {
  const content = extension(certificate, AUTHORITY_KEY);
  return content && hex(content);
}

export function isSelfIssued({ subject, issuer }: X509Certificate): boolean {
  return subject === issuer;
}

/** Whether a certificate is signed with its own key, which one of an authority may be and one of a leaf too. */
export function isSelfSigned(certificate: X509Certificate): boolean {
  try {
    return isSelfIssued(certificate) && certificate.verify(certificate.publicKey);
  } catch {
    return false;
  }
}

/** Whether one certificate is signed with the key of another and names it. */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

export function isExpired({ validTo }: X509Certificate, now: Date): boolean {
  return Date.parse(validTo) < now.getTime();
}

export function isNotYetValid({ validFrom }: X509Certificate, now: Date): boolean {
  return Date.parse(validFrom) > now.getTime();
}

/** A distinguished name in one line, without control characters, and not longer than a message can bear. */
export function nameInWords(name: string | undefined): string {
  const line = (name ?? '').replace(/\n/g, ', ').replace(/[\0-\x1f\x7f-\x9f]/g, '?');
  if (line === '') return 'without a name';
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}

/** The key of a certificate, or undefined when this OpenSSL does not know its kind, or it is damaged. */
export function publicKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey;
  } catch {
    return undefined;
  }
}

/** A key in words: `RSA with 2048 bits`, `EC on P-256`, `Ed25519`. */
export function keyInWords(key: KeyObject): string {
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  const type = key.asymmetricKeyType ?? '';
  if (modulusLength !== undefined) return `${type === 'rsa' ? 'RSA' : type.toUpperCase()} with ${modulusLength} bits`;
  if (namedCurve !== undefined) return `EC on ${CURVES.get(namedCurve) ?? namedCurve}`;
  return TYPES.get(type) ?? type.toUpperCase();
}

const CURVES: ReadonlyMap<string, string> = new Map([
  ['prime256v1', 'P-256'],
  ['secp384r1', 'P-384'],
  ['secp521r1', 'P-521'],
]);
const TYPES: ReadonlyMap<string, string> = new Map([
  ['ed25519', 'Ed25519'],
  ['ed448', 'Ed448'],
]);

/** The content of an extension by the hexadecimal text of its identifier. */
function extension(certificate: X509Certificate, id: string): Uint8Array | undefined {
  const body = peekParts(peekElement(certificate.raw))[0];
  const list = peekParts(peekParts(body).find(({ tag }) => tag === TAG.context3))[0];
  const found = peekParts(list, 64)
    .map((one) => peekParts(one))
    .find(([oid]) => oid !== undefined && hex(oid.content) === id);
  return found?.find(({ tag }) => tag === TAG.octetString)?.content;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
