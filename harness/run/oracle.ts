/**
 * The independent oracle: looks at every outgoing request with other eyes than the pipeline that made it, and says whether it is
 * what the scenario claims. It computes HMAC by its definition (RFC 2104) from a bare hash, so that a mistake in the sender's signing
 * cannot hide itself.
 */
import { hash } from 'node:crypto';
import {
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  emittedNotification,
  headerValues,
} from '../../contract/index.ts';
import type { Partner } from '../sender/index.ts';
import { serialise } from '../sender/index.ts';
import type { Assembled } from './assemble.ts';

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

/** Whether exactly one line of the header stands in the request, with the right value (white space around it is not part of it). */
function carries(request: Assembled, header: string, right: string): boolean {
  const values = headerValues(request.prepared.headers, header);
  return values.length === 1 && values[0]?.replace(/^[\t ]+|[\t ]+$/g, '') === right;
}

/** Whether the credentials of a request are right, as far as the partner's features ask for any. */
export function isAuthentic(request: Assembled, partner: Partner): boolean {
  const { signing, apiKey } = partner;
  const signed =
    signing === undefined ||
    carries(
      request,
      signing.header ?? DEFAULT_SIGNATURE_HEADER,
      oracleSignature(signing.secret, request.prepared.body),
    );
  const keyed = apiKey === undefined || carries(request, apiKey.header ?? DEFAULT_API_KEY_HEADER, apiKey.value);
  return signed && keyed;
}

/** What is wrong with a probe, or null. */
export function faultOfProbe(request: Assembled, partner: Partner, authentic: boolean): string | null {
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
