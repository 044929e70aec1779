import Fastify from 'fastify';
import { isSigned, port } from './start.mjs';

const app = Fastify();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (req, body, done) => {
  req.rawBody = body;
  try {
    done(null, JSON.parse(body.toString()));
  } catch (error) {
    error.statusCode = 400;
    done(error);
  }
});
app.post('/hooks', (req, reply) => {
  if (!isSigned(req.rawBody, req.headers['x-service-signature'])) return reply.code(401).send();
  return reply.code(200).send({ received: true });
});
await app.listen({ port });
