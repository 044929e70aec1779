/**
 * Dead Simple Signing Envelope, version 1 (github.com/secure-systems-lab/dsse), with Ed25519 (RFC 8032) only. Pure.
 *
 * An envelope has one valid form: canonical JSON, ordered keys, padded standard base64, exactly one signature, one
 * trailing newline. The specification allows a verifier to accept more (base64url, whitespace, several signatures),
 * but only hookproof issues certificates, and a lenient verifier would accept bytes that no signature covers.
 */

import { type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import { keyIdOf } from './keys.ts';

export interface Envelope {
  readonly payload: Buffer;
  readonly payloadType: string;
  readonly keyId: string;
  readonly signature: Buffer;
}

/** Maximum size of a certificate file. */
const MAX_ENVELOPE_BYTES = 1024 * 1024;
const SIGNATURE_BYTES = 64;
const MEDIA_TYPE = /^[a-z0-9.+/-]{1,127}$/;
const KEY_ID = /^[0-9a-f]{64}$/;

/** Returns the bytes to sign (PAE in DSSE's protocol.md). The lengths that they contain are in bytes. */
export function preAuthenticationEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const type = Buffer.from(payloadType);
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} `), type, Buffer.from(` ${payload.length} `), payload]);
}

export function signEnvelope(payloadType: string, payload: Uint8Array, privateKey: KeyObject): Envelope {
  const signature = sign(null, preAuthenticationEncoding(payloadType, payload), privateKey);
  return { payload: Buffer.from(payload), payloadType, keyId: keyIdOf(privateKey), signature };
}

/** Returns whether the key signed the payload and its type. Ignores the key id, which is only a hint. */
export function isSignedBy({ payload, payloadType, signature }: Envelope, publicKey: KeyObject): boolean {
  if (publicKey.asymmetricKeyType !== 'ed25519') return false;
  return verify(null, preAuthenticationEncoding(payloadType, payload), publicKey, signature);
}

export function envelopeText({ payload, payloadType, keyId, signature }: Envelope): string {
  const signatures = [{ keyid: keyId, sig: signature.toString('base64') }];
  return `${canonicalJson({ payload: payload.toString('base64'), payloadType, signatures })}\n`;
}

/** Reads an envelope. Returns the reason if it is invalid, as the end of the sentence "the file …". */
export function readEnvelope(bytes: Uint8Array): Envelope | string {
  if (bytes.length > MAX_ENVELOPE_BYTES) return `is larger than ${MAX_ENVELOPE_BYTES / 1024} KiB`;
  const value = parseJson(bytes);
  if (value === undefined) return 'is not JSON in UTF-8';
  const envelope = envelopeIn(value);
  if (typeof envelope === 'string') return envelope;
  // Rejects duplicate keys, other escapes, whitespace and other spellings of the same base64.
  if (!Buffer.from(envelopeText(envelope)).equals(bytes))
    return 'contains an envelope that differs from the form hookproof writes: it was changed or reformatted';
  return envelope;
}

/** Parses JSON in strict UTF-8 without a byte order mark; undefined if that fails. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function envelopeIn(value: unknown): Envelope | string {
  const envelope = membersOf(value, ['payload', 'payloadType', 'signatures']);
  if (envelope === null) return 'is not a DSSE envelope: expected exactly payload, payloadType and signatures';
  const { payload, payloadType, signatures } = envelope;
  if (typeof payloadType !== 'string' || !MEDIA_TYPE.test(payloadType))
    return 'has a payload type that is not a media type';
  if (!Array.isArray(signatures) || signatures.length !== 1) return 'does not have exactly one signature';
  const one = membersOf(signatures[0], ['keyid', 'sig']);
  if (one === null) return 'has a signature whose fields are not exactly keyid and sig';
  if (typeof one.keyid !== 'string' || !KEY_ID.test(one.keyid))
    return 'has a key id that is not a SHA-256 in hexadecimal';
  const signature = decodeBase64(one.sig);
  if (signature?.length !== SIGNATURE_BYTES) return 'has a signature that is not 64 bytes in base64';
  const content = decodeBase64(payload);
  if (content === null) return 'has a payload that is not base64';
  return { payload: content, payloadType, keyId: one.keyid, signature };
}

/** Returns an object that has exactly these members; null for anything else. */
function membersOf<Name extends string>(value: unknown, names: readonly Name[]): Record<Name, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const keys = Object.keys(value);
  const exact = keys.length === names.length && names.every((name) => keys.includes(name));
  return exact ? (value as Record<Name, unknown>) : null;
}

/** Decodes padded standard base64 with zero spare bits; null for anything else. */
function decodeBase64(text: unknown): Buffer | null {
  if (typeof text !== 'string') return null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
