/**
 * The independent oracle verifies that every outgoing request is what the scenario claims. It shares no code with the
 * pipeline that makes the requests, and computes HMAC from a hash function as RFC 2104 defines it. It therefore detects
 * mistakes in the sender's own signing.
 */
import { createPrivateKey, createPublicKey, hash, verify } from 'node:crypto';
import { emittedNotification, headerValues } from '../../contract/index.ts';
import type { Scheme } from '../../contract/signing/index.ts';
import { type Partner, validSecrets } from '../partner.ts';
import { serialise } from '../sender/index.ts';
import type { Assembled } from './assemble.ts';
import { headerNamesOf } from './kit.ts';

const BLOCK_BYTES = 64;

function sha256(...parts: Uint8Array[]): Buffer {
  return hash('sha256', parts.length === 1 ? (parts[0] ?? '') : Buffer.concat(parts), 'buffer');
}

/**
 * The inner and outer keys of RFC 2104. The last pair is cached, because most requests of a run use the same secret.
 */
let last: { readonly secret: string; readonly inner: Uint8Array; readonly outer: Uint8Array } | undefined;

function paddedKeysOf(secret: string) {
  if (last?.secret === secret) return last;
  const text = Buffer.from(secret, 'utf8');
  const key = Buffer.alloc(BLOCK_BYTES);
  (text.length > BLOCK_BYTES ? sha256(text) : text).copy(key);
  last = { secret, inner: key.map((byte) => byte ^ 0x36), outer: key.map((byte) => byte ^ 0x5c) };
  return last;
}

/** Computes HMAC-SHA256 as RFC 2104 defines it. Returns base64. */
export function oracleSignature(secret: string, body: Uint8Array): string {
  const { inner, outer } = paddedKeysOf(secret);
  return sha256(outer, sha256(inner, body)).toString('base64');
}

/** Returns the value of a header without surrounding white space. Null if the header is missing or repeated. */
function onlyValue(request: Assembled, header: string): string | null {
  const [value, ...more] = headerValues(request.prepared.headers, header);
  return value === undefined || more.length > 0 ? null : value.replace(/^[\t ]+|[\t ]+$/g, '');
}

/** Returns whether a request has all credentials that the partner's configuration requires, and they are valid. */
export function isAuthentic(request: Assembled, partner: Partner): boolean {
  const { signing, apiKey } = partner;
  const names = headerNamesOf(partner);
  if (apiKey !== undefined && onlyValue(request, names.apiKey) !== apiKey.value) return false;
  if (signing === undefined) return true;
  if (signing.scheme !== undefined) {
    const { scheme } = signing;
    return validSecrets(partner).some((secret) => isSignedIn(scheme, request, secret));
  }
  const signature = onlyValue(request, names.signature);
  return validSecrets(partner).some((secret) => signature === oracleSignature(secret, request.prepared.body));
}

/**
 * Returns how an older signature of a request differs from what it should be, or null. It is as valid as the signature
 * of the scheme, unless the change keeps it.
 */
function faultOfOlder(request: Assembled, { signing }: Partner): string | null {
  if (signing?.scheme?.olderSignatures === undefined) return null;
  const { scheme, secret } = signing;
  const isValid = request.change.sign?.keepsOlder === true || isSignedIn(scheme, request, secret);
  const [name] =
    Object.entries(signing.scheme.olderSignatures).find(
      ([header, older]) => isSignedIn({ ...scheme, ...older }, request, secret, header) !== isValid,
    ) ?? [];
  return name === undefined ? null : `its ${name} should be ${isValid ? 'valid but is not' : 'invalid but is valid'}`;
}

/**
 * Returns whether a request has all headers of a scheme, is within its tolerance, and has one signature that is valid
 * for its body. With `older`, the signature is that of this header.
 */
function isSignedIn(scheme: Scheme, request: Assembled, secret: string, older?: string): boolean {
  const found: Record<string, string> = {};
  for (const [name, template] of Object.entries(scheme.headers)) {
    const isReplaced = older !== undefined && template.includes('{signature}');
    const value = onlyValue(request, isReplaced ? older : name);
    if (value === null || !readInto(found, isReplaced ? '{signature}' : template, value)) return false;
  }
  const { id = '', timestamp = '', signature = '' } = found;
  if ('timestamp' in found) {
    const { toleranceSeconds = Number.POSITIVE_INFINITY } = scheme;
    const isNear = Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds;
    if (!/^[0-9]+$/.test(timestamp) || !isNear) return false;
  }
  const texts: Record<string, string | Uint8Array> = { id, timestamp, url: request.prepared.url };
  const signed = scheme.signed
    .split(/[{}]/)
    .map((part, at) => (at % 2 === 0 ? part : part === 'body' ? request.prepared.body : (texts[part] ?? '')));
  const bytes = Buffer.concat(signed.map((part) => Buffer.from(part)));
  const [before = '', after = ''] = scheme.signature.split('{value}');
  const entries = scheme.separator === undefined ? [signature] : signature.split(scheme.separator);
  return entries
    .filter((entry) => entry.startsWith(before) && entry.endsWith(after))
    .map((entry) => entry.slice(before.length, entry.length - after.length))
    .some((value) => isSignature(scheme, bytes, secret, value));
}

/** Reads the placeholders of a template from a text. Returns false if the text does not have its form. */
function readInto(found: Record<string, string>, template: string, text: string): boolean {
  const parts = template.split(/[{}]/);
  let rest = text;
  for (let at = 0; at < parts.length; at += 2) {
    const literal = parts[at] ?? '';
    const position = at === 0 ? 0 : at === parts.length - 1 && literal === '' ? rest.length : rest.indexOf(literal);
    if (position === -1 || !rest.startsWith(literal, position)) return false;
    if (at > 0) found[parts[at - 1] ?? ''] = rest.slice(0, position);
    rest = rest.slice(position + literal.length);
  }
  return rest === '';
}

/** The length of a block in bytes, by hash function (FIPS 180-4). */
const BLOCKS = { sha1: 64, sha256: 64, sha512: 128 } as const;

/** The DER of an Ed25519 private key before its 32 bytes (RFC 8410, section 7). */
const ED25519_HEAD = Buffer.from('MC4CAQAwBQYDK2VwBCIEIA==', 'base64');

function isSignature({ algorithm, encoding, secret: rule }: Scheme, bytes: Buffer, secret: string, value: string) {
  const { prefix = '', encoding: form } = rule;
  const key = Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, form);
  if (algorithm === 'ed25519') {
    const der = Buffer.concat([ED25519_HEAD, key.subarray(0, 32)]);
    const publicKey = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
    const signature = Buffer.from(value, encoding);
    return signature.toString(encoding) === value && verify(null, bytes, publicKey, signature);
  }
  const block = Buffer.alloc(BLOCKS[algorithm]);
  (key.length > block.length ? hash(algorithm, key, 'buffer') : key).copy(block);
  const inner = hash(algorithm, Buffer.concat([block.map((byte) => byte ^ 0x36), bytes]), 'buffer');
  return (
    hash(algorithm, Buffer.concat([block.map((byte) => byte ^ 0x5c), inner]), 'buffer').toString(encoding) === value
  );
}

/** Returns how a probe differs from what its check claims to send, or null. */
export function faultOfProbe(request: Assembled, partner: Partner, authentic: boolean): string | null {
  // Without configured credentials, no request can have invalid ones. Checks that need them are not applicable; the
  // others only judge what an answer reveals.
  const isOpen = partner.signing === undefined && partner.apiKey === undefined;
  if (!isOpen && isAuthentic(request, partner) !== authentic) {
    return authentic
      ? 'its credentials should be valid but are not'
      : 'its credentials should be invalid but are valid';
  }
  const fault = faultOfOlder(request, partner);
  if (fault !== null) return fault;
  if (request.change.serialise !== undefined && Buffer.from(serialise(request.value)).equals(request.prepared.body)) {
    return 'its bytes should differ from those of the sender but are the same';
  }
  return null;
}

/** The shapes of controls that passed the strict schema. Cached, because a run sends hundreds of the same shape. */
const validShapes = new Set<string>();

/** Describes a value by the names of its members and their types. */
function shapeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return `{${Object.entries(value).map(([name, inner]) => `${name}:${shapeOf(inner)}`)}}`;
}

/** Removes a field that the partner has configured and the specification does not define. */
function removeAt(value: unknown, [key = '', ...rest]: readonly string[]): void {
  if (typeof value !== 'object' || value === null) return;
  const object = value as Record<string, unknown>;
  if (rest.length > 0) removeAt(object[key], rest);
  else delete object[key];
}

/** Returns why a control is not a strictly valid notification with valid credentials, or null. */
export function faultOfControl(request: Assembled, partner: Partner): string | null {
  if (!isAuthentic(request, partner)) return 'its credentials should be valid but are not';
  if (partner.signing?.scheme !== undefined) return faultOfOlder(request, partner);
  const notification: unknown = JSON.parse(Buffer.from(request.prepared.body).toString('utf8'));
  for (const [path] of partner.samples?.fields ?? []) removeAt(notification, path.split('.'));
  const shape = shapeOf(notification);
  if (validShapes.has(shape)) return null;
  const checked = emittedNotification.safeParse(notification);
  if (!checked.success) return `it is not a valid notification: ${checked.error.message}`;
  validShapes.add(shape);
  return null;
}
