/**
 * Receives signed notifications with Express 5: verifies the raw body, appends it to a journal on disk, answers 200.
 * Start it with `npm install` once and `node receiver.mjs`. Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least
 * one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
 * One process only: the known ids are in memory. For several, use a database with a unique key on the id.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { constants, open } from 'node:fs/promises';
import express from 'express';

const { WEBHOOK_SECRET, WEBHOOK_API_KEY, HOST = '127.0.0.1', PORT = '3000' } = process.env;
if (!WEBHOOK_SECRET && !WEBHOOK_API_KEY) {
  console.error('Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.');
  process.exit(1);
}
const journal = await openJournal(process.env.WEBHOOK_JOURNAL ?? 'journal.ndjson');

const app = express().disable('x-powered-by');

app.post('/hooks', express.raw({ type: () => true, inflate: false, limit: '1mb' }), async (req, res) => {
  const rawBody = req.body ?? Buffer.alloc(0);
  if (!isAuthentic(req, rawBody)) return res.status(401).json({ error: 'unauthorized' });
  if (!req.is(['application/json', '+json'])) return res.status(415).json({ error: 'not JSON' });
  const id = notificationId(rawBody);
  if (id === null) return res.status(400).json({ error: 'not a notification' });
  try {
    await journal.store(id, rawBody);
  } catch (error) {
    console.error(error);
    return res.status(503).json({ error: 'not stored' }); // The sender may deliver it again.
  }
  res.json({ ok: true });
});
app.all('/hooks', (_req, res) => res.set('Allow', 'POST').status(405).json({ error: 'method not allowed' }));
app.use((_req, res) => res.status(404).json({ error: 'not found' }));
// The message of an error may quote the request: log it, and answer the status alone.
app.use((error, _req, res, _next) => res.status(error.status ?? 500).json({ error: 'not accepted' }));

app.listen(Number(PORT), HOST, (error) => {
  if (error) throw error;
  console.log(`listening on http://${HOST}:${PORT}/hooks`);
});

function isAuthentic(req, rawBody) {
  // Node joins repeated headers with a comma, so they never match.
  const isKeyValid = !WEBHOOK_API_KEY || isSame(req.get('X-API-Key'), WEBHOOK_API_KEY);
  const signature = () => createHmac('sha256', WEBHOOK_SECRET).update(rawBody).digest('base64');
  return isKeyValid && (!WEBHOOK_SECRET || isSame(req.get('X-Service-Signature'), signature()));
}

/** Compares digests: in constant time, whatever the lengths. */
function isSame(received = '', expected) {
  const digest = (text) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(received), digest(expected));
}

/** The id of a notification; null when the body is not one. Unknown types and fields are accepted. */
function notificationId(rawBody) {
  try {
    // Strict UTF-8; a byte order mark stays in the text, where JSON does not allow it.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
    const { id, type, data } = JSON.parse(text);
    const isNotification = typeof type === 'string' && typeof data === 'object' && data !== null;
    return isNotification && /^[^\p{Cc}]{1,200}$/u.test(id) && typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

/** A file with one line of JSON per notification, each of them on disk before `store` resolves. */
async function openJournal(path) {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT);
  const content = await file.readFile();
  let size = content.lastIndexOf('\n') + 1;
  await file.truncate(size); // The process was killed while it wrote the last line.
  const lines = content.toString('utf8', 0, size).split('\n').slice(0, -1);
  const stored = new Map(lines.map((line) => [JSON.parse(line).id, Promise.resolve()]));
  let last = Promise.resolve();

  async function append(id, rawBody) {
    const line = Buffer.from(`${JSON.stringify({ id, receivedAt: new Date(), body: rawBody.toString() })}\n`);
    try {
      for (let at = 0; at < line.length; ) at += (await file.write(line, at, line.length - at, size + at)).bytesWritten;
      await file.sync();
      size += line.length;
    } catch (error) {
      stored.delete(id);
      await file.truncate(size);
      throw error;
    }
  }
  return {
    /** Writes one line at a time. A copy waits for the line of the first delivery, and adds none. */
    store(id, rawBody) {
      if (!stored.has(id)) {
        last = last.catch(() => {}).then(() => append(id, rawBody));
        stored.set(id, last);
      }
      return stored.get(id);
    },
  };
}
