import Fastify from 'fastify';
import rawBody from 'fastify-raw-body';
import { apiKey, isSigned, port } from './start.mjs';

const app = Fastify();
await app.register(rawBody, { field: 'rawBody', global: false, encoding: 'utf8', runFirst: true });
app.post('/hooks', {
  config: { rawBody: true },
  handler: (req, reply) => {
    if (req.headers['x-api-key'] !== apiKey) return reply.code(401).send({ error: 'key' });
    if (!isSigned(req.rawBody, req.headers['x-service-signature'])) return reply.code(401).send({ error: 'signature' });
    return reply.send({ received: true });
  },
});
await app.listen({ port });
