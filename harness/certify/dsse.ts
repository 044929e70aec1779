/**
 * Dead Simple Signing Envelope, version 1 (github.com/secure-systems-lab/dsse), with Ed25519 (RFC 8032) and nothing else. Pure.
 *
 * An envelope has one spelling: canonical JSON, keys in order, padded standard base64, exactly one signature, one newline at the end. The
 * specification lets a verifier take more (base64url, white space, several signatures). Certificates are made by hookproof and by nobody else, so taking
 * more would help nobody, and leave bytes in the file that no signature covers. This way every byte of it counts.
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

/** A file that is larger is no certificate: bytes. */
const MOST_ENVELOPE_BYTES = 1024 * 1024;
const SIGNATURE_BYTES = 64;
const MEDIA_TYPE = /^[a-z0-9.+/-]{1,127}$/;
const KEY_ID = /^[0-9a-f]{64}$/;

/** What is signed (protocol.md, PAE). Lengths are in bytes. */
export function preAuthenticationEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const type = Buffer.from(payloadType);
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} `), type, Buffer.from(` ${payload.length} `), payload]);
}

export function signEnvelope(payloadType: string, payload: Uint8Array, privateKey: KeyObject): Envelope {
  const signature = sign(null, preAuthenticationEncoding(payloadType, payload), privateKey);
  return { payload: Buffer.from(payload), payloadType, keyId: keyIdOf(privateKey), signature };
}

/** Whether the signature is that of the key over type and payload. The key id is a hint and is not looked at. */
export function isSignedBy({ payload, payloadType, signature }: Envelope, publicKey: KeyObject): boolean {
  if (publicKey.asymmetricKeyType !== 'ed25519') return false;
  return verify(null, preAuthenticationEncoding(payloadType, payload), publicKey, signature);
}

export function envelopeText({ payload, payloadType, keyId, signature }: Envelope): string {
  const signatures = [{ keyid: keyId, sig: signature.toString('base64') }];
  return `${canonicalJson({ payload: payload.toString('base64'), payloadType, signatures })}\n`;
}

/** The envelope in these bytes, or why they are none, as the end of the sentence "the file …". */
export function readEnvelope(bytes: Uint8Array): Envelope | string {
  if (bytes.length > MOST_ENVELOPE_BYTES) return `is larger than ${MOST_ENVELOPE_BYTES / 1024} KiB`;
  const value = parseJson(bytes);
  if (value === undefined) return 'is no JSON text in UTF-8';
  const envelope = envelopeIn(value);
  if (typeof envelope === 'string') return envelope;
  // Duplicate keys, other escapes, white space and other ways to write the same base64 all end here.
  if (!Buffer.from(envelopeText(envelope)).equals(bytes))
    return 'holds an envelope that is not spelt as hookproof writes it: something has changed or reformatted it';
  return envelope;
}

/** The value of a JSON text in strict UTF-8 without a byte order mark; undefined when it is none. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function envelopeIn(value: unknown): Envelope | string {
  const envelope = membersOf(value, ['payload', 'payloadType', 'signatures']);
  if (envelope === null)
    return 'is no DSSE envelope: it has to have payload, payloadType and signatures, and nothing else';
  const { payload, payloadType, signatures } = envelope;
  if (typeof payloadType !== 'string' || !MEDIA_TYPE.test(payloadType))
    return 'has a payload type that is no media type';
  if (!Array.isArray(signatures) || signatures.length !== 1) return 'has to have exactly one signature';
  const one = membersOf(signatures[0], ['keyid', 'sig']);
  if (one === null) return 'has a signature without keyid and sig, or with more';
  if (typeof one.keyid !== 'string' || !KEY_ID.test(one.keyid)) return 'has a key id that is no SHA-256 in hexadecimal';
  const signature = decodeBase64(one.sig);
  if (signature?.length !== SIGNATURE_BYTES) return 'has a signature that is not 64 bytes in base64';
  const content = decodeBase64(payload);
  if (content === null) return 'has a payload that is no base64';
  return { payload: content, payloadType, keyId: one.keyid, signature };
}

/** The members of an object that has exactly these. */
function membersOf<Name extends string>(value: unknown, names: readonly Name[]): Record<Name, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const keys = Object.keys(value);
  const exact = keys.length === names.length && names.every((name) => keys.includes(name));
  return exact ? (value as Record<Name, unknown>) : null;
}

/** Padded standard base64 in its one spelling, spare bits zero; null for anything else. */
function decodeBase64(text: unknown): Buffer | null {
  if (typeof text !== 'string') return null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
