/**
 * Receives signed notifications with Express 5: verifies the raw body, appends it to a journal, and answers 200.
 * Start it with `npm install` once and `node receiver.mjs`. Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least
 * one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
 * Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import express from 'express';
import { openJournal } from './journal.mjs';
import { limitServer, notificationId, readBody } from './request.mjs';

const { WEBHOOK_SECRET, WEBHOOK_API_KEY, HOST = '127.0.0.1', PORT = '3000' } = process.env;
if (!WEBHOOK_SECRET && !WEBHOOK_API_KEY) {
  console.error('Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.');
  process.exit(1);
}
// During a rotation, the previous secret is also valid.
const secrets = [WEBHOOK_SECRET, process.env.WEBHOOK_PREVIOUS_SECRET].filter(Boolean);
const journal = await openJournal(process.env.WEBHOOK_JOURNAL ?? 'journal.ndjson').catch(({ message }) => {
  console.error(message);
  process.exit(1);
});

const app = express().disable('x-powered-by');

app.post('/hooks', async (req, res) => {
  const rawBody = await readBody(req);
  if (rawBody === null) return res.set('Connection', 'close').status(413).json({ error: 'too large' });
  if (!isAuthentic(req, rawBody)) return res.status(401).json({ error: 'unauthorized' });
  const isCompressed = (req.get('Content-Encoding') ?? 'identity') !== 'identity';
  if (isCompressed || !req.is(['application/json', '+json'])) return res.status(415).json({ error: 'not JSON' });
  const id = notificationId(rawBody);
  if (id === null) return res.status(400).json({ error: 'not a notification' });
  try {
    await journal.store(id, rawBody);
  } catch (error) {
    console.error(error);
    return res.status(503).json({ error: 'not stored' }); // The sender can deliver it again.
  }
  res.json({ ok: true });
});
app.all('/hooks', (_req, res) => res.set('Allow', 'POST').status(405).json({ error: 'method not allowed' }));
app.use((_req, res) => res.status(404).json({ error: 'not found' }));
// The message of an error may quote the request: log it, and answer with the status alone.
app.use((error, _req, res, _next) => res.status(error.status ?? 500).json({ error: 'not accepted' }));

const server = createServer(app);
limitServer(server);
server.listen(Number(PORT), HOST, () => console.log(`listening on http://${HOST}:${PORT}/hooks`));

function isAuthentic(req, rawBody) {
  // Node joins repeated headers with a comma, so they never match.
  const isKeyValid = !WEBHOOK_API_KEY || isSame(req.get('X-API-Key'), WEBHOOK_API_KEY);
  const signature = (secret) => createHmac('sha256', secret).update(rawBody).digest('base64');
  const matches = secrets.map((secret) => isSame(req.get('X-Service-Signature'), signature(secret)));
  return isKeyValid && (secrets.length === 0 || matches.includes(true));
}

/** Compares digests, so that the time does not depend on the lengths. */
function isSame(received = '', expected) {
  const digest = (text) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(received), digest(expected));
}
