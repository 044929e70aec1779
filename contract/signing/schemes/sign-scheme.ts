/** Signs and describes deliveries in any scheme. */
import { createHash, createPrivateKey, createPublicKey, hash, type KeyObject, sign as signEdDsa } from 'node:crypto';
import type { HeaderLine } from '../../delivery.ts';
import { HookproofError } from '../../hookproof-error.ts';
import { hmac } from '../sign.ts';
import type { Scheme, SchemeInput, Template } from './scheme.ts';

/** Returns the bytes to sign according to a template. The bytes of the body are unchanged. */
export function signedBytes(signed: Template, { body, url, id, timestamp }: SchemeInput): Buffer {
  const values: Readonly<Record<string, string | Uint8Array>> = { body, url, id, timestamp: `${timestamp}` };
  const parts = signed.split(/\{(\w+)\}/);
  return Buffer.concat(parts.map((part, at) => Buffer.from(at % 2 === 1 ? (values[part] ?? '') : part)));
}

/** Returns the bytes of a secret in the scheme. Without the prefix, the whole secret is decoded. */
export function keyBytes({ secret: { prefix = '', encoding } }: Pick<Scheme, 'secret'>, secret: string): Buffer {
  return Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, encoding);
}

/** The DER that precedes the 32 bytes of an Ed25519 key (RFC 8410). */
const PRIVATE_KEY_DER = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_KEY_DER = Buffer.from('302a300506032b6570032100', 'hex');
const ED25519_KEY_BYTES = 32;
const PUBLIC_KEY_PREFIX = 'whpk_';

/** Returns the private key in a secret: its 32 bytes, which some libraries write with the public key after them. */
function privateKey(scheme: Scheme, secret: string): KeyObject {
  const bytes = keyBytes(scheme, secret);
  if (bytes.length !== ED25519_KEY_BYTES && bytes.length !== 2 * ED25519_KEY_BYTES) {
    throw new HookproofError('SECRET_INVALID', `the secret is not a valid private key for ${scheme.title}`, {
      hint: `Give "${scheme.secret.prefix ?? ''}" followed by the Base64 of the 32 bytes of an Ed25519 private key.`,
    });
  }
  return keyFromSeed(bytes.subarray(0, ED25519_KEY_BYTES));
}

function keyFromSeed(bytes: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PRIVATE_KEY_DER, bytes]), format: 'der', type: 'pkcs8' });
}

/** Returns the public key in a secret, or of the private key in it. */
export function publicKey(scheme: Scheme, secret: string): KeyObject {
  if (!secret.startsWith(PUBLIC_KEY_PREFIX)) return createPublicKey(privateKey(scheme, secret));
  const bytes = Buffer.from(secret.slice(PUBLIC_KEY_PREFIX.length), 'base64');
  if (bytes.length !== ED25519_KEY_BYTES) {
    throw new HookproofError('SECRET_INVALID', `the secret is not a valid public key for ${scheme.title}`, {
      hint: `Give "${PUBLIC_KEY_PREFIX}" followed by the Base64 of the 32 bytes of an Ed25519 public key.`,
    });
  }
  return createPublicKey({ key: Buffer.concat([PUBLIC_KEY_DER, bytes]), format: 'der', type: 'spki' });
}

/**
 * Returns the signature of a delivery as raw bytes. A secret may be given as the bytes of its key, and another hash
 * function may be used instead of that of the scheme. For an Ed25519 scheme, the key is derived from the given bytes.
 *
 * @throws HookproofError SECRET_INVALID if the secret is not a key of the scheme
 */
export function schemeDigest(
  scheme: Scheme,
  input: SchemeInput,
  secret: string | Uint8Array,
  algorithm: string = scheme.algorithm,
): Buffer {
  const bytes = signedBytes(scheme.signed, input);
  if (algorithm !== 'ed25519') {
    return hmac(bytes, typeof secret === 'string' ? keyBytes(scheme, secret) : secret, algorithm);
  }
  const key = typeof secret === 'string' ? privateKey(scheme, secret) : keyFromSeed(hash('sha256', secret, 'buffer'));
  return signEdDsa(null, bytes, key);
}

/** Returns the headers of a delivery with these values, each the encoded signature of one secret. */
export function headersOfScheme(
  { headers, signature, separator }: Scheme,
  { id, timestamp }: Pick<SchemeInput, 'id' | 'timestamp'>,
  values: readonly string[],
): HeaderLine[] {
  const fill = (template: Template, texts: Readonly<Record<string, string>>) =>
    template.replaceAll(/\{(\w+)\}/g, (_, name: string) => texts[name] ?? '');
  const signatures = values.map((value) => fill(signature, { value })).join(separator);
  const texts = { id, timestamp: `${timestamp}`, signature: signatures };
  return Object.entries(headers).map(([name, template]) => [name, fill(template, texts)]);
}

/** Returns the scheme of each older signature that the sender adds to a delivery: it has no other header. */
export function olderSchemesOf({ olderSignatures = {}, ...newest }: Scheme): Scheme[] {
  return Object.entries(olderSignatures).map(([name, older]) => ({
    ...newest,
    ...older,
    headers: { [name]: '{signature}' },
  }));
}

/**
 * Returns the headers of a delivery that is signed with one or several secrets, also those of older signatures.
 *
 * @throws HookproofError SECRET_INVALID if a secret is not a key of the scheme, SCHEME_ONE_SIGNATURE if there are
 *   several secrets and the scheme has one signature
 */
export function signWithScheme(scheme: Scheme, input: SchemeInput, secrets: readonly string[]): HeaderLine[] {
  const { separator, title } = scheme;
  if (secrets.length > 1 && separator === undefined) {
    throw new HookproofError('SCHEME_ONE_SIGNATURE', `a delivery of ${title} has one signature`, {
      hint: 'Give one secret.',
    });
  }
  return [scheme, ...olderSchemesOf(scheme)].flatMap((one) => {
    const values = secrets.map((secret) => schemeDigest(one, input, secret).toString(one.encoding));
    return headersOfScheme(one, input, values);
  });
}

/** Returns a message id. Equal bodies at equal times have equal ids, so that output is repeatable. */
export function messageIdOf(body: Uint8Array, timestamp: number): string {
  return `msg_${createHash('sha256').update(`${timestamp}.`).update(body).digest('hex').slice(0, 24)}`;
}

/** Matches the value of a header that identifies a delivery of a sample. Each delivery gets another one. */
export const DELIVERY_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The names of the encodings of a signature. */
export const ENCODINGS = { base64: 'Base64', hex: 'hex', base64url: 'Base64 for URLs' } as const;

/** Returns the name of the header that contains the signature. */
export function signatureHeaderOf({ headers }: Pick<Scheme, 'headers'>): string {
  return Object.keys(headers).find((name) => headers[name]?.includes('{signature}')) ?? '';
}

/**
 * Returns the names of the headers in which receivers of the sender read a signature: that of the scheme, its other
 * names, and those of older signatures.
 */
export function signatureHeadersOf(scheme: Pick<Scheme, 'headers' | 'aliases' | 'olderSignatures'>): string[] {
  const { aliases = [], olderSignatures = {} } = scheme;
  return [signatureHeaderOf(scheme), ...aliases, ...Object.keys(olderSignatures)];
}

/** Describes what is signed and how the value is written. */
export function describeScheme(
  scheme: Pick<Scheme, 'algorithm' | 'encoding' | 'signed' | 'signature' | 'headers'>,
): string {
  const { algorithm, encoding, signed, signature, headers } = scheme;
  const name = algorithm === 'ed25519' ? 'an Ed25519 signature' : `HMAC-${algorithm.replace('sha', 'SHA')}`;
  const template = headers[signatureHeaderOf(scheme)] ?? '';
  const written = template.replace('{signature}', signature).replaceAll(/\{(\w+)\}/g, '<$1>');
  const over = signed.replaceAll(/\{(\w+)\}/g, '<$1>');
  return `${ENCODINGS[encoding]} of ${name} over ${over}${written === '<value>' ? '' : `, as ${written}`}`;
}
