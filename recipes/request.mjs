/**
 * What a receiver reads of a request. Connections, time and memory have limits, because credentials are checked later:
 * 256 connections with at most 1 MiB each.
 */
const MAX_BODY_BYTES = 1024 * 1024;
/** More is read than is accepted: a sender that is still writing would see a reset instead of the 413. */
const MAX_READ_BYTES = 16 * MAX_BODY_BYTES;
/** Each takes time, however small it is. A megabyte in the smallest usual packets has about 2,000. */
const MAX_CHUNKS = 10_000;
/** Each can hold a body. */
const MAX_CONNECTIONS = 256;

/** Sets the limits of a server of node:http. Heads are limited to 16 KiB by Node itself. */
export function limitServer(server) {
  // In milliseconds. Node looks every 30 seconds which requests have exceeded them.
  server.headersTimeout = 10_000;
  server.requestTimeout = 20_000; // head and body
  server.setTimeout(60_000); // a client that does not read its answers
  // The connection that has gone longest without an answer is the first one, and the one that is closed.
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
 * The raw body of a request; null when it is too large. Rejects when the sender goes away. The chunks are copied into
 * one buffer: a list of them takes a hundred bytes for each, also for a body in chunks of one byte.
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

/** The id of a notification; null when the body is not one. Unknown types and fields are accepted. */
export function notificationId(rawBody) {
  try {
    // Strict UTF-8; a byte order mark stays in the text, where JSON does not allow it.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
    const { id, type, data } = JSON.parse(text);
    const isNotification = typeof type === 'string' && typeof data === 'object' && data !== null;
    // Half a surrogate pair is no text that everything can read back.
    return isNotification && typeof id === 'string' && /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(id) ? id : null;
  } catch {
    return null;
  }
}
