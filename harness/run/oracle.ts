/**
 * The independent oracle verifies that every outgoing request is what the scenario claims. It shares no code with the
 * pipeline that makes the requests, and computes HMAC from a hash function as RFC 2104 defines it. It therefore detects
 * mistakes in the sender's own signing.
 */
import { hash } from 'node:crypto';
import { emittedNotification, headerValues } from '../../contract/index.ts';
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
  const signature = onlyValue(request, names.signature);
  return validSecrets(partner).some((secret) => signature === oracleSignature(secret, request.prepared.body));
}

/** Returns how a probe differs from what its check claims to send, or null. */
export function faultOfProbe(request: Assembled, partner: Partner, authentic: boolean): string | null {
  // Without configured credentials, no request can have invalid ones. Checks that need them are not applicable; the
  // others only judge what an answer reveals.
  const isOpen = partner.signing === undefined && partner.apiKey === undefined;
  if (!isOpen && isAuthentic(request, partner) !== authentic) {
    return authentic
      ? 'its credentials should be valid and are not'
      : 'its credentials should be invalid and are valid';
  }
  if (request.change.serialise !== undefined && Buffer.from(serialise(request.value)).equals(request.prepared.body)) {
    return 'its bytes should differ from those of the sender and are the same';
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
  if (!isAuthentic(request, partner)) return 'its credentials should be valid and are not';
  const notification: unknown = JSON.parse(Buffer.from(request.prepared.body).toString('utf8'));
  for (const [path] of partner.samples?.fields ?? []) removeAt(notification, path.split('.'));
  const shape = shapeOf(notification);
  if (validShapes.has(shape)) return null;
  const checked = emittedNotification.safeParse(notification);
  if (!checked.success) return `it is not a valid notification: ${checked.error.message}`;
  validShapes.add(shape);
  return null;
}
