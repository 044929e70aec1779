import Hapi from '@hapi/hapi';
import { isSigned, port } from './start.mjs';

const server = Hapi.server({ port, host: '127.0.0.1' });
server.route({
  method: 'POST',
  path: '/hooks',
  handler: (request, h) => {
    const isValid = isSigned(JSON.stringify(request.payload), request.headers['x-service-signature']);
    return isValid ? { received: true } : h.response({ error: 'invalid signature' }).code(401);
  },
});
await server.start();
