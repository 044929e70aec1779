/**
 * Receives signed notifications with Fastify 5: verifies the raw body, appends it to a journal, and answers 200.
 * Start it with `npm install` once and `node receiver.mjs`. Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least
 * one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
 * Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import fastify from 'fastify';
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

const app = fastify();
limitServer(app.server);

// Keeps the raw bytes of every content type, because the signature covers them.
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', (_request, payload) => readBody(payload));

app.post('/hooks', async (request, reply) => {
  const rawBody = request.body === undefined ? Buffer.alloc(0) : request.body;
  if (rawBody === null) return reply.code(413).header('Connection', 'close').send({ error: 'too large' });
  if (!isAuthentic(request.headers, rawBody)) return reply.code(401).send({ error: 'unauthorized' });
  const id = notificationId(rawBody);
  if (id === null) return reply.code(400).send({ error: 'not a notification' });
  try {
    await journal.store(id, rawBody);
  } catch (error) {
    console.error(error);
    return reply.code(503).send({ error: 'not stored' }); // The sender can deliver it again.
  }
  return reply.code(200).send({ ok: true });
});
app.setNotFoundHandler((request, reply) => {
  if (request.url.split('?')[0] !== '/hooks') return reply.code(404).send({ error: 'not found' });
  return reply.code(405).header('Allow', 'POST').send({ error: 'method not allowed' });
});
// The message of an error may quote the request: answer with the status alone.
app.setErrorHandler((error, _request, reply) => reply.code(error.statusCode ?? 500).send({ error: 'not accepted' }));

await app.listen({ host: HOST, port: Number(PORT) });
console.log(`listening on http://${HOST}:${PORT}/hooks`);

function isAuthentic(headers, rawBody) {
  // Node joins repeated headers with a comma, so they never match.
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
