/**
 * Determines which bodies a receiver may read from a request. If an endpoint reveals the valid signature of what it has
 * read, this is the signature of one of these bodies, or of one of them re-serialised as JSON. Redaction must know all
 * of them.
 */
import { gunzipSync } from 'node:zlib';
import { headerValues } from '../../contract/index.ts';
import type { Assembled } from './assemble.ts';

/** Maximum size of a body that is decompressed or parsed, in bytes. */
const MAX_BYTES = 1024 * 1024;

/**
 * Returns the readable bodies other than the one that was sent: what the framing leaves of it, and its decompressed
 * form.
 */
export function visibleBodies(request: Assembled): Uint8Array[] {
  const { prepared, raw, transmission } = request;
  const bodies: Uint8Array[] = raw === null ? [] : bodiesOnWire(raw);
  if (transmission?.kind === 'cut-off') {
    bodies.push(prepared.body.subarray(0, Math.floor(prepared.body.length * transmission.fraction)));
  }
  if (headerValues(prepared.headers, 'Content-Encoding').length > 0) bodies.push(...decompressed(prepared.body));
  return bodies;
}

/** Returns the body and its visible forms, each re-serialised as JSON. */
export function reserialisedBodies(request: Assembled, visible: readonly Uint8Array[]): Uint8Array[] {
  if (request.change.serialise === undefined) return [];
  return [request.prepared.body, ...visible].flatMap(serialisedAgain);
}

/** Returns what follows the head: everything, as much as each Content-Length says, and the decoded chunks. */
function bodiesOnWire(bytes: Buffer): Buffer[] {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.subarray(0, end).toString('latin1');
  const rest = bytes.subarray(end + 4);
  const lengths = Array.from(head.matchAll(/^Content-Length\s*:\s*(\d+)/gim), ([, digits]) => Number(digits));
  const within = lengths.filter((length) => length < rest.length).map((length) => rest.subarray(0, length));
  return [rest, ...within, ...(/^Transfer-Encoding\s*:/im.test(head) ? [withoutChunks(rest)] : [])];
}

function withoutChunks(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, Math.max(at, end)).toString('latin1'), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

function decompressed(body: Uint8Array): Buffer[] {
  try {
    return [gunzipSync(body, { maxOutputLength: MAX_BYTES })];
  } catch {
    return [];
  }
}

function serialisedAgain(body: Uint8Array): Buffer[] {
  if (body.length > MAX_BYTES) return [];
  try {
    return [Buffer.from(JSON.stringify(JSON.parse(Buffer.from(body).toString('utf8'))))];
  } catch {
    return [];
  }
}
