/**
 * Reads requests. Connections, time and memory are limited, because credentials are checked later: 256 connections with
 * at most 1 MiB each.
 */
const MAX_BODY_BYTES = 1024 * 1024;
/** More is read than is accepted. Otherwise, a sender that is still writing would see a reset instead of the 413. */
const MAX_READ_BYTES = 16 * MAX_BODY_BYTES;
/** Each chunk costs time, however small it is. A megabyte arrives in about 2,000 of the smallest common packets. */
const MAX_CHUNKS = 10_000;
/** Each connection can hold one body. */
const MAX_CONNECTIONS = 256;

/** Sets the limits of a node:http server. Node itself limits heads to 16 KiB. */
export function limitServer(server) {
  // In milliseconds. Node checks these limits every 30 seconds.
  server.headersTimeout = 10_000;
  server.requestTimeout = 20_000; // head and body
  server.setTimeout(60_000); // a client that does not read its answers
  // The connection that has waited longest for an answer is the first one, and is closed first.
  const connections = new Set();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    if (connections.size > MAX_CONNECTIONS) connections.values().next().value?.destroy();
  });
  server.on('request', ({ socket }, res) => {
    res.once('finish', () => connections.delete(socket) && connections.add(socket));
  });
}

/**
 * Resolves with the raw body of a request, or null when it is too large. Rejects when the sender disconnects. The
 * chunks are copied into one buffer, because in a list each takes a hundred bytes, even a chunk of one byte.
 */
export function readBody(req) {
  return new Promise((resolve, reject) => {
    let body = Buffer.alloc(0);
    let size = 0;
    let chunks = 0;
    req.on('data', (chunk) => {
      const begin = size;
      size += chunk.length;
      chunks += 1;
      if (size > MAX_READ_BYTES || chunks > MAX_CHUNKS) return resolve(null);
      if (size > MAX_BODY_BYTES) {
        body = Buffer.alloc(0);
        return;
      }
      if (size > body.length) body = Buffer.concat([body], Math.max(size, Math.min(2 * size, MAX_BODY_BYTES)));
      chunk.copy(body, begin);
    });
    req.on('end', () => resolve(size > MAX_BODY_BYTES ? null : body.subarray(0, size)));
    req.on('error', reject);
  });
}

/** Returns the id; null when the body is not a notification. Unknown types and fields are accepted. */
export function notificationId(rawBody) {
  try {
    // Decodes strictly. A byte order mark stays in the text, where JSON does not allow it.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
    const { id, type, data } = JSON.parse(text);
    const isNotification = typeof type === 'string' && typeof data === 'object' && data !== null;
    // An unpaired surrogate is rejected, because not every program could read the id back.
    return isNotification && typeof id === 'string' && /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(id) ? id : null;
  } catch {
    return null;
  }
}
