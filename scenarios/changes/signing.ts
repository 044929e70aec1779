/**
 * Changes to the sign stage: signatures that are invalid or encoded differently. Each change can include a shell
 * command that produces its value, for the commands that reproduce a delivery.
 */
import { createHash } from 'node:crypto';
import { quote } from '../../contract/shell-word.ts';
import { hmac, mistakenBody, schemeDigest, signBody } from '../../contract/signing/index.ts';
import type { RequirementId } from '../requirements.ts';
import type { Feature, Kit, SignChange } from '../scenario.ts';

/** How the sender signs a delivery. The families of signature checks are functions of a scheme. */
export interface SigningScheme {
  /** Feature of an endpoint that verifies signatures of this scheme. */
  readonly feature: Feature;
  /** Requirements for the receiver, by their subject. */
  readonly requirements: Readonly<Record<SigningSubject, RequirementId>>;
  /** Shell text that converts the body to the valid signature. */
  readonly shell: string;
  /** The `openssl` command that computes the digest. Appending `-binary` or `-r` selects the form of its output. */
  readonly digestShell: string;
}

export type SigningSubject =
  | 'algorithm'
  | 'encoding'
  | 'every-delivery'
  | 'header'
  | 'invalid'
  | 'missing'
  | 'raw-body'
  | 'secret';

/** Computes an unkeyed digest of the given parts, as raw bytes. */
export function digest(algorithm: string, ...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash(algorithm);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Encodes a digest as the sender does: in base64, or in the encoding of its scheme. */
export function written(bytes: Uint8Array, { scheme }: Kit): string {
  return Buffer.from(bytes).toString(scheme?.literal.encoding ?? 'base64');
}

/** The length of a signature in bytes. */
const SIGNATURE_BYTES = { sha1: 20, sha256: 32, sha512: 64, ed25519: 64 } as const;

/** Returns random bytes in the form of a signature. */
export function randomSignature(kit: Kit): string {
  return written(kit.bytes(SIGNATURE_BYTES[kit.scheme?.literal.algorithm ?? 'sha256']), kit);
}

/**
 * Computes the digest that the sender signs a body with, with another secret or another hash function. In an Ed25519
 * scheme, another secret means another key.
 */
export function keyed(
  body: Uint8Array,
  kit: Kit,
  secret: string | Uint8Array = kit.secret,
  algorithm?: string,
): Buffer {
  const { scheme } = kit;
  if (scheme === undefined) return hmac(body, secret, algorithm);
  const isKey = secret === kit.secret || scheme.literal.algorithm !== 'ed25519';
  return schemeDigest(scheme.literal, { ...scheme, body }, isKey ? secret : Buffer.from(secret), algorithm);
}

/** Returns the value of the signature header with this signature. */
export function signatureHeader(signature: string, { scheme }: Kit): string {
  return scheme?.header(signature) ?? signature;
}

function signChange(
  label: string,
  make: SignChange['make'],
  shell: string | undefined,
  suits?: SignChange['suits'],
): SignChange {
  return { label, make, ...(shell === undefined ? {} : { shell }), ...(suits === undefined ? {} : { suits }) };
}

/** Converts text to a header value: its UTF-8 bytes as Latin-1 characters, without control characters. */
export function headerText(text: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[\x00-\x1f\x7f]/g, '');
}

/** Sends no signature header. */
export const unsigned: SignChange = { label: 'no signature header', make: () => undefined };

/** Sends this text as the signature. */
export function literal(
  value: string,
  label = `the text ${JSON.stringify(value)}`,
  shell = `printf %s ${quote(value)}`,
): SignChange {
  return { label, make: () => value, shell };
}

/**
 * Signs correctly, but with another secret. If it happens to be the partner's secret, an `x` is appended, so the
 * signature is invalid for every partner. `shell` is a command that produces the same value.
 */
export function signedWith(label: string, secret: (kit: Kit) => string | Uint8Array, shell?: string): SignChange {
  return signChange(
    label,
    (body, kit) => {
      const key = secret(kit);
      const value = written(keyed(body, kit, key), kit);
      return value === kit.sign(body)
        ? written(keyed(body, kit, Buffer.concat([Buffer.from(key), Buffer.from('x')])), kit)
        : value;
    },
    shell,
  );
}

/** Signs correctly, but with this text as the secret. */
export function signedWithText(secret: string): SignChange {
  const label = secret === '' ? 'signed with an empty secret' : `signed with the secret ${JSON.stringify(secret)}`;
  return signedWith(label, () => secret, signatureUnder(quote(secret)));
}

/**
 * Signs bytes other than those that are sent. `before` is a shell command that derives the signed bytes from the sent
 * ones.
 */
export function signedOver(
  label: string,
  bytes: (body: Uint8Array, kit: Kit) => Uint8Array,
  before?: string,
  scheme = HMAC_SHA256,
): SignChange {
  const shell = before === undefined ? undefined : `${before} | ${scheme.shell}`;
  return signChange(label, (body, kit) => kit.sign(bytes(body, kit)), shell);
}

/** Signs with a mistake from the table of signing mistakes. */
export function signedMistakenly(label: string, mistake: string): SignChange {
  const make: SignChange['make'] = (body, kit) =>
    kit.scheme === undefined ? signBody(body, kit.secret, mistake) : kit.sign(mistakenBody(body, mistake));
  return signChange(label, make, undefined);
}

/** Sends a value that is derived from the correct signature. */
export function derived(
  label: string,
  from: (right: string, body: Uint8Array, kit: Kit) => string,
  shell?: string,
  suits?: (right: string) => boolean,
): SignChange {
  return signChange(label, (body, kit) => from(kit.sign(body), body, kit), shell, suits);
}

/** Writes the correct digest in another encoding. */
export function encodedAs(
  label: string,
  encode: (digest: Buffer) => string,
  shell?: string,
  suits?: (right: string) => boolean,
): SignChange {
  return signChange(label, (body, kit) => encode(keyed(body, kit)), shell, suits);
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * Shifts the characters in [start, end) of a base64 text up the base64 alphabet. If `steps` is a multiple of four, the
 * result is canonical base64 of another digest. A shift by one of the last character of a 32-byte digest changes only
 * the two spare bits.
 */
export function shifted(base64: string, start: number, end: number, steps = 4): string {
  const moved = [...base64.slice(start, end)].map((c) =>
    ALPHABET.charAt((ALPHABET.indexOf(c) + steps) % ALPHABET.length),
  );
  return base64.slice(0, start) + moved.join('') + base64.slice(end);
}

/*
 * Shell text: each command reads the body on standard input and writes a value of the signature header. Tools: openssl,
 * tr, cut, head, sed, od, printf. The secret appears only as the variable "$HOOKPROOF_SECRET".
 */

/** Shell command that encodes its input as base64 on one line. */
const AS_BASE64 = 'openssl base64 -A';

/**
 * Returns a shell command that computes the HMAC in base64 with the secret in this shell word. `algorithm` is a digest
 * name that openssl knows.
 */
export function signatureUnder(secretWord: string, algorithm = 'sha256'): string {
  return `openssl dgst -${algorithm} -hmac ${secretWord} -binary | ${AS_BASE64}`;
}

/**
 * Returns a shell command that prints the digest of the openssl command `dgst` in hexadecimal. `bits` is the length of
 * the digest.
 */
export function asHex(dgst: string, bits = 256): string {
  return `${dgst} -r | cut -c1-${bits / 4}`;
}

/**
 * Returns a shell command that runs these commands one after another on the same standard input, and joins their
 * output.
 */
export function joined(...commands: string[]): string {
  return `{ ${commands.join('; ')}; }`;
}

/** The signing scheme of the sender: HMAC-SHA256 of the raw body with the secret, in base64. */
export const HMAC_SHA256: SigningScheme = {
  feature: 'hmac',
  requirements: {
    algorithm: 'hmac-algorithm',
    encoding: 'hmac-base64',
    'every-delivery': 'hmac-every-delivery',
    header: 'hmac-header',
    invalid: 'hmac-invalid',
    missing: 'hmac-missing',
    'raw-body': 'hmac-raw-body',
    secret: 'hmac-secret-set',
  },
  shell: signatureUnder('"$HOOKPROOF_SECRET"'),
  digestShell: 'openssl dgst -sha256 -hmac "$HOOKPROOF_SECRET"',
};
