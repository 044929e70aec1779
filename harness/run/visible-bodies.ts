/**
 * Which bodies a receiver may read from a request. An endpoint that reveals the valid signature of what it has read
 * reveals the signature of one of them, or of its JSON re-serialised, so that redaction has to know each.
 */
import { gunzipSync } from 'node:zlib';
import { headerValues } from '../../contract/index.ts';
import type { Assembled } from './assemble.ts';

/** Larger bodies are not decompressed and not parsed. */
const MAX_BYTES = 1024 * 1024;

/** The bodies other than the one that was sent: what the framing leaves of it, and the result of decompressing it. */
export function visibleBodies(request: Assembled): Uint8Array[] {
  const { prepared, raw, transmission } = request;
  const bodies: Uint8Array[] = raw === null ? [] : bodiesOnWire(raw);
  if (transmission?.kind === 'cut-off') {
    bodies.push(prepared.body.subarray(0, Math.floor(prepared.body.length * transmission.fraction)));
  }
  if (headerValues(prepared.headers, 'Content-Encoding').length > 0) bodies.push(...decompressed(prepared.body));
  return bodies;
}

/** The results of parsing and serialising the body and its visible forms again. */
export function reserialisedBodies(request: Assembled, visible: readonly Uint8Array[]): Uint8Array[] {
  if (request.change.serialise === undefined) return [];
  return [request.prepared.body, ...visible].flatMap(serialisedAgain);
}

/** What is behind the head: up to its end, up to each length that the head names, and without the framing of chunks. */
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
