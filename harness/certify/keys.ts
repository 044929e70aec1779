/** Ed25519 keys for certificates: PKCS#8 and SubjectPublicKeyInfo in PEM (RFC 8410), as OpenSSL writes and reads them. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { sha256 } from './canonical-json.ts';

/** The id of a key pair: SHA-256 of the public key's SubjectPublicKeyInfo in DER, lower-case hexadecimal. */
export function keyIdOf(key: KeyObject): string {
  return sha256((key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' }));
}

export interface KeyPairText {
  readonly privatePem: string;
  readonly publicPem: string;
  readonly keyId: string;
}

/** A new pair. With a passphrase the private key is encrypted (PBES2, AES-256). */
export function makeKeyPair(passphrase?: string): KeyPairText {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const locked = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase };
  return {
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem', ...locked }).toString(),
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    keyId: keyIdOf(publicKey),
  };
}

/** One PEM block and nothing around it. */
const BLOCK = /^\s*-----BEGIN ([A-Z0-9 ]+)-----[A-Za-z0-9+/=\s]+-----END \1-----\s*$/;

/**
 * Reads the private key that certificates are signed with. `name` is what messages call it; no message holds any of it.
 * Throws {@link HookproofError} `CERTIFY_KEY`.
 */
export function readPrivateKey(pem: string, name: string, passphrase?: string): KeyObject {
  const label = BLOCK.exec(pem)?.[1];
  const encrypted = label === 'ENCRYPTED PRIVATE KEY';
  if (label !== 'PRIVATE KEY' && !encrypted) throw unusable(name, wrongBlock(label, 'private'), MAKE_ONE);
  if (encrypted && passphrase === undefined) {
    const hint = 'Give the passphrase with --passphrase-file or HOOKPROOF_CERTIFY_KEY_PASSPHRASE.';
    throw unusable(name, 'is encrypted, and no passphrase is given', hint);
  }
  const key = attempt(() =>
    createPrivateKey({ key: pem, format: 'pem', ...(encrypted && { passphrase: passphrase ?? '' }) }),
  );
  if (key === null) {
    throw unusable(name, encrypted ? 'cannot be opened with this passphrase' : 'cannot be read', MAKE_ONE);
  }
  return onlyEd25519(key, name);
}

/** Reads a public key that certificates are verified with. Throws {@link HookproofError} `CERTIFY_KEY`. */
export function readPublicKey(pem: string, name: string): KeyObject {
  const label = BLOCK.exec(pem)?.[1];
  if (label?.endsWith('PRIVATE KEY') === true) {
    const hint =
      'Give the public key, the file that ends in .pub.pem. Keep the private one to yourself: it issues certificates.';
    throw unusable(name, 'is a private key', hint);
  }
  if (label !== 'PUBLIC KEY') throw unusable(name, wrongBlock(label, 'public'), ASK_FOR_IT);
  const key = attempt(() => createPublicKey({ key: pem, format: 'pem', type: 'spki' }));
  if (key === null) throw unusable(name, 'cannot be read', ASK_FOR_IT);
  return onlyEd25519(key, name);
}

const MAKE_ONE = '`hookproof certify keygen` makes one: Ed25519, PKCS#8, PEM.';
const ASK_FOR_IT =
  'It is the .pub.pem file that `hookproof certify keygen` wrote for the operator who issues certificates.';

function wrongBlock(label: string | undefined, wanted: string): string {
  if (label === undefined) return `does not hold one PEM block and nothing else`;
  return label === 'PUBLIC KEY'
    ? 'is a public key'
    : `is no ${wanted} key in PKCS#8 or SPKI, but ${label.toLowerCase()}`;
}

function onlyEd25519(key: KeyObject, name: string): KeyObject {
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw unusable(name, `is a key for ${key.asymmetricKeyType ?? 'something else'} and not for Ed25519`, MAKE_ONE);
}

function attempt(make: () => KeyObject): KeyObject | null {
  try {
    return make();
  } catch {
    // What OpenSSL says may quote the key.
    return null;
  }
}

function unusable(name: string, what: string, hint: string): HookproofError {
  return new HookproofError('CERTIFY_KEY', `${name} ${what}`, { hint });
}
