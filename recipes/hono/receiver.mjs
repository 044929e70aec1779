/**
 * Receives signed notifications with Hono: verifies the raw body, appends it to a journal on disk, and answers 200.
 * Start it with `npm install` once and `node receiver.mjs`. Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least
 * one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
 * Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
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

const app = new Hono();

app.post('/hooks', async (c) => {
  const rawBody = await readBody(c.env.incoming); // the node:http request
  if (rawBody === null) return c.json({ error: 'too large' }, 413, { Connection: 'close' });
  if (!isAuthentic(c.req.header(), rawBody)) return c.json({ error: 'unauthorized' }, 401);
  const id = notificationId(rawBody);
  if (id === null) return c.json({ error: 'not a notification' }, 400);
  try {
    await journal.store(id, rawBody);
  } catch (error) {
    console.error(error);
    return c.json({ error: 'not stored' }, 503); // The sender can deliver it again.
  }
  return c.json({ ok: true });
});
app.all('/hooks', (c) => c.json({ error: 'method not allowed' }, 405, { Allow: 'POST' }));
app.notFound((c) => c.json({ error: 'not found' }, 404));
// The message of an error may quote the request: answer with the status alone.
app.onError((_error, c) => c.json({ error: 'not accepted' }, 500));

const server = serve({ fetch: app.fetch, hostname: HOST, port: Number(PORT) }, () => {
  console.log(`listening on http://${HOST}:${PORT}/hooks`);
});
limitServer(server);

function isAuthentic(headers, rawBody) {
  // Repeated headers are joined with a comma, so they never match.
  const isKeyValid = !WEBHOOK_API_KEY || isSame(headers['x-api-key'], WEBHOOK_API_KEY);
  const signature = (secret) => createHmac('sha256', secret).update(rawBody).digest('base64');
  const matches = secrets.map((secret) => isSame(headers['x-service-signature'], signature(secret)));
  return isKeyValid && (secrets.length === 0 || matches.includes(true));
}

/** Compares digests, so that the time does not depend on the lengths. */
function isSame(received = '', expected) {
  const digest = (text) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(received), digest(expected));
}
