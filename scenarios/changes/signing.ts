/** Replacements for the sign stage: the ways in which a signature is wrong, or merely spelt differently. */
import { createHash, createHmac } from 'node:crypto';
import type { Kit, SignChange } from '../scenario.ts';

/** HMAC of a body, as raw bytes. `algorithm` is a digest name that node:crypto knows. */
export function hmac(secret: string | Uint8Array, body: Uint8Array, algorithm = 'sha256'): Buffer {
  return createHmac(algorithm, secret).update(body).digest();
}

/** Unkeyed digest of the given parts, as raw bytes. */
export function digest(algorithm: string, ...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash(algorithm);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Sends no signature header. */
export const unsigned: SignChange = { label: 'no signature header', make: () => undefined };

/** Sends this text as the signature. */
export function literal(value: string, label = `the text ${JSON.stringify(value)}`): SignChange {
  return { label, make: () => value };
}

/** Signs correctly, but with another secret. */
export function signedWith(label: string, secret: (kit: Kit) => string | Uint8Array): SignChange {
  return { label, make: (body, kit) => hmac(secret(kit), body).toString('base64') };
}

/** Signs other bytes than those that are sent. */
export function signedOver(label: string, bytes: (body: Uint8Array, kit: Kit) => Uint8Array): SignChange {
  return { label, make: (body, kit) => kit.sign(bytes(body, kit)) };
}

/** Sends a value that is derived from the right signature. */
export function derived(
  label: string,
  from: (right: string, body: Uint8Array, kit: Kit) => string,
  shell?: string,
): SignChange {
  return { label, make: (body, kit) => from(kit.sign(body), body, kit), ...(shell === undefined ? {} : { shell }) };
}

/** Spells the right digest in another encoding. */
export function encodedAs(label: string, encode: (digest: Buffer) => string, shell?: string): SignChange {
  return {
    label,
    make: (body, kit) => encode(hmac(kit.secret, body)),
    ...(shell === undefined ? {} : { shell }),
  };
}
