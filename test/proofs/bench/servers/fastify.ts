/** Fastify with the same checks; a content type parser keeps the raw body. */
import { fastify } from 'fastify';
import { readNotification } from '../../../../contract/index.ts';
import { checkApiKey, verifySignature } from '../../../../receiver/index.ts';
import { API_KEY, announce, remember, SECRET } from './server-process.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const app = fastify();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.post('/hooks', (request, reply) => {
  const { headers } = request;
  const rawBody = request.body as Buffer;
  const known =
    checkApiKey({ header: headers['x-api-key'], keys: [API_KEY] }).ok &&
    verifySignature({ rawBody, header: headers['x-service-signature'], secrets: [SECRET] }).ok;
  if (!known) return reply.code(401).send({ error: 'unauthorized' });
  const reading = readNotification(JSON.parse(utf8.decode(rawBody)));
  if (!reading.ok) return reply.code(400).send({ issues: reading.issues });
  const stored = remember(reading.notification.id);
  return reply.send({ status: stored === 'stored' ? 'accepted' : 'duplicate' });
});
await app.listen({ port: 0, host: '127.0.0.1' });
announce(Number(new URL(app.listeningOrigin).port));
