/** Ed25519 keys for certificates: PKCS#8 and SubjectPublicKeyInfo in PEM (RFC 8410), compatible with OpenSSL. */

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { sha256 } from './canonical-json.ts';

/** Returns the id of a key pair: SHA-256 of the public key's SubjectPublicKeyInfo (DER) in lower-case hexadecimal. */
export function keyIdOf(key: KeyObject): string {
  return sha256((key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' }));
}

export interface KeyPairText {
  readonly privatePem: string;
  readonly publicPem: string;
  readonly keyId: string;
}

/** Generates a key pair. With a passphrase, the private key is encrypted (PBES2, AES-256). */
export function makeKeyPair(passphrase?: string): KeyPairText {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const encryption = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase };
  return {
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem', ...encryption }).toString(),
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    keyId: keyIdOf(publicKey),
  };
}

/** Matches exactly one PEM block. */
const BLOCK = /^\s*-----BEGIN ([A-Z0-9 ]+)-----[A-Za-z0-9+/=\s]+-----END \1-----\s*$/;

/**
 * Reads the private key for signing certificates. Messages refer to it by `name` and contain no part of it.
 *
 * @throws HookproofError CERTIFY_KEY
 */
export function readPrivateKey(pem: string, name: string, passphrase?: string): KeyObject {
  const label = BLOCK.exec(pem)?.[1];
  const encrypted = label === 'ENCRYPTED PRIVATE KEY';
  if (label !== 'PRIVATE KEY' && !encrypted) throw keyError(name, describeBlock(label, 'private'), GENERATE_HINT);
  if (encrypted && passphrase === undefined) {
    const hint = 'Set the passphrase with `--passphrase-file` or HOOKPROOF_CERTIFY_KEY_PASSPHRASE.';
    throw keyError(name, 'is encrypted, but no passphrase is configured', hint);
  }
  const key = readOrNull(() =>
    createPrivateKey({ key: pem, format: 'pem', ...(encrypted && { passphrase: passphrase ?? '' }) }),
  );
  if (key === null) {
    throw keyError(name, encrypted ? 'cannot be decrypted with this passphrase' : 'cannot be read', GENERATE_HINT);
  }
  return requireEd25519(key, name);
}

/**
 * Reads a public key for verifying certificates.
 *
 * @throws HookproofError CERTIFY_KEY
 */
export function readPublicKey(pem: string, name: string): KeyObject {
  const label = BLOCK.exec(pem)?.[1];
  if (label?.endsWith('PRIVATE KEY') === true) {
    const hint = 'Give the public key (.pub.pem). Keep the private key secret: it issues certificates.';
    throw keyError(name, 'is a private key', hint);
  }
  if (label !== 'PUBLIC KEY') throw keyError(name, describeBlock(label, 'public'), PUBLIC_KEY_HINT);
  const key = readOrNull(() => createPublicKey({ key: pem, format: 'pem', type: 'spki' }));
  if (key === null) throw keyError(name, 'cannot be read', PUBLIC_KEY_HINT);
  return requireEd25519(key, name);
}

const GENERATE_HINT = 'Generate a key with `hookproof certify keygen`: Ed25519, PKCS#8, PEM.';
const PUBLIC_KEY_HINT = 'Give the .pub.pem file that `hookproof certify keygen` created for the issuer.';

function describeBlock(label: string | undefined, wanted: string): string {
  if (label === undefined) return 'must contain exactly one PEM block';
  return label === 'PUBLIC KEY' ? 'is a public key' : `is not a ${wanted} key in PKCS#8 or SPKI: it contains ${label}`;
}

function requireEd25519(key: KeyObject, name: string): KeyObject {
  if (key.asymmetricKeyType !== 'ed25519') {
    throw keyError(name, `is a key of type ${key.asymmetricKeyType ?? 'unknown'}, expected Ed25519`, GENERATE_HINT);
  }
  if (!hasSmallOrder(key)) return key;
  const what = 'is not a usable Ed25519 key: anyone can make signatures that it accepts';
  throw keyError(name, what, 'It was not generated as a key. Get the key from the issuer, and replace this file.');
}

/** The prime of the field of Curve25519. */
const P = 2n ** 255n - 19n;
/** One of the two y coordinates of the points of order 8; the other is its negative. */
const ORDER_8 = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;
/** The y coordinates of all points whose order divides 8. The sign of x is not part of them. */
const SMALL_ORDER: readonly bigint[] = [0n, 1n, P - 1n, ORDER_8, P - ORDER_8];

/**
 * Returns whether the public key is a point of small order, for which a signature does not depend on the message.
 * OpenSSL accepts such keys.
 */
function hasSmallOrder(key: KeyObject): boolean {
  const spki = (key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' });
  const littleEndian = spki.subarray(-32).toReversed();
  const y = BigInt(`0x${Buffer.from(littleEndian).toString('hex')}`) & (2n ** 255n - 1n);
  return SMALL_ORDER.includes(y % P);
}

function readOrNull(make: () => KeyObject): KeyObject | null {
  try {
    return make();
  } catch {
    // OpenSSL's message may quote the key.
    return null;
  }
}

function keyError(name: string, what: string, hint: string): HookproofError {
  return new HookproofError('CERTIFY_KEY', `${name} ${what}`, { hint });
}
