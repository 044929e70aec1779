/**
 * Receives deliveries of Standard Webhooks with Express 5: verifies the raw body, appends it to a journal, answers 200.
 * Start it with `npm install` once and `node receiver.mjs`. Environment: WEBHOOK_SECRET (`whsec_` and Base64),
 * WEBHOOK_PREVIOUS_SECRET, PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
 * Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import express from 'express';
import { openJournal } from './journal.mjs';
import { limitServer, readBody } from './request.mjs';

const TOLERANCE_SECONDS = 300;
const { WEBHOOK_SECRET, WEBHOOK_PREVIOUS_SECRET, HOST = '127.0.0.1', PORT = '3000' } = process.env;
// During a rotation, the previous secret is also valid.
const keys = [keyOf('WEBHOOK_SECRET', WEBHOOK_SECRET ?? '')];
if (WEBHOOK_PREVIOUS_SECRET) keys.push(keyOf('WEBHOOK_PREVIOUS_SECRET', WEBHOOK_PREVIOUS_SECRET));
const journal = await openJournal(process.env.WEBHOOK_JOURNAL ?? 'journal.ndjson').catch(({ message }) => {
  console.error(message);
  process.exit(1);
});

const app = express().disable('x-powered-by');

app.post('/hooks', async (req, res) => {
  const rawBody = await readBody(req);
  if (rawBody === null) return res.set('Connection', 'close').status(413).json({ error: 'too large' });
  const id = authenticId(req, rawBody);
  if (id === null) return res.status(401).json({ error: 'unauthorized' });
  if (!isJson(rawBody)) return res.status(400).json({ error: 'not JSON' });
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

/** Decodes a secret strictly: Buffer.from would skip what is not Base64. */
function keyOf(name, secret) {
  const encoded = secret.replace(/^whsec_/, '');
  const key = Buffer.from(encoded, 'base64');
  if (secret !== encoded && key.length > 0 && key.toString('base64') === encoded) return key;
  console.error(`${name} must be whsec_ followed by Base64 with padding.`);
  process.exit(1);
}

/** Returns the id of a delivery that is signed and recent; null otherwise. */
function authenticId(req, rawBody) {
  const once = (name) => (req.headersDistinct[name]?.length === 1 ? req.headersDistinct[name][0] : '');
  const [id, timestamp] = [once('webhook-id'), once('webhook-timestamp')];
  if (!/^[!-~]{1,200}$/.test(id) || !/^[0-9]{1,12}$/.test(timestamp)) return null;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return null;
  const received = once('webhook-signature')
    .split(' ')
    .map((signature) => Buffer.from(signature));
  const isValid = (key) => {
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest('base64');
    const expected = Buffer.from(`v1,${digest}`);
    return received.some((bytes) => bytes.length === expected.length && timingSafeEqual(bytes, expected));
  };
  return keys.some(isValid) ? id : null;
}

function isJson(rawBody) {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody));
    return true;
  } catch {
    return false;
  }
}
