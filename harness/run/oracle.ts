/**
 * The independent oracle: looks at every outgoing request with other eyes than the pipeline that made it, and says whether it is
 * what the scenario claims. It computes HMAC by its definition (RFC 2104) from a bare hash, so that a mistake in the sender's signing
 * cannot hide itself.
 */
import { hash } from 'node:crypto';
import { emittedNotification, headerValues } from '../../contract/index.ts';
import type { Partner } from '../partner.ts';
import { serialise } from '../sender/index.ts';
import type { Assembled } from './assemble.ts';
import { headerNamesOf } from './kit.ts';

const BLOCK_BYTES = 64;

function sha256(...parts: Uint8Array[]): Buffer {
  return hash('sha256', parts.length === 1 ? (parts[0] ?? '') : Buffer.concat(parts), 'buffer');
}

/** HMAC-SHA256 by its definition, as base64. */
export function oracleSignature(secret: string, body: Uint8Array): string {
  const text = Buffer.from(secret, 'utf8');
  const key = Buffer.alloc(BLOCK_BYTES);
  (text.length > BLOCK_BYTES ? sha256(text) : text).copy(key);
  const inner = sha256(
    key.map((byte) => byte ^ 0x36),
    body,
  );
  return sha256(
    key.map((byte) => byte ^ 0x5c),
    inner,
  ).toString('base64');
}

/** The one value of the header (white space around it is not part of it), or null when it is missing or repeated. */
function onlyValue(request: Assembled, header: string): string | null {
  const [value, ...more] = headerValues(request.prepared.headers, header);
  return value === undefined || more.length > 0 ? null : value.replace(/^[\t ]+|[\t ]+$/g, '');
}

/** Whether the credentials of a request are right, as far as the partner's features ask for any. */
export function isAuthentic(request: Assembled, partner: Partner): boolean {
  const { signing, apiKey } = partner;
  const names = headerNamesOf(partner);
  if (apiKey !== undefined && onlyValue(request, names.apiKey) !== apiKey.value) return false;
  if (signing === undefined) return true;
  const signature = onlyValue(request, names.signature);
  return signature !== null && signature === oracleSignature(signing.secret, request.prepared.body);
}

/** What is wrong with a probe, or null. */
export function faultOfProbe(request: Assembled, partner: Partner, authentic: boolean): string | null {
  // Where no credentials are configured there are none to leave out.
  const none = partner.signing === undefined && partner.apiKey === undefined;
  if (request.change.connect?.plain === true && none) return null;
  if (isAuthentic(request, partner) !== authentic) {
    return authentic ? 'its credentials should be right and are not' : 'its credentials should be wrong and are right';
  }
  if (request.change.serialise !== undefined && Buffer.from(serialise(request.value)).equals(request.prepared.body)) {
    return 'its bytes should be unlike those the sender makes and are the same';
  }
  return null;
}

/** The shapes of controls that have passed the strict schema: a run sends hundreds of the same one. */
const validShapes = new Set<string>();

/** Names and kinds of the values, without the values. */
function shapeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return `{${Object.entries(value).map(([name, inner]) => `${name}:${shapeOf(inner)}`)}}`;
}

/** What is wrong with a control, or null: it has to be a strictly valid notification with right credentials. */
export function faultOfControl(request: Assembled, partner: Partner): string | null {
  if (!isAuthentic(request, partner)) return 'its credentials should be right and are not';
  const notification: unknown = JSON.parse(Buffer.from(request.prepared.body).toString('utf8'));
  const shape = shapeOf(notification);
  if (validShapes.has(shape)) return null;
  const checked = emittedNotification.safeParse(notification);
  if (!checked.success) return `it is no valid notification: ${checked.error.message}`;
  validShapes.add(shape);
  return null;
}
