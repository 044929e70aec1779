import Hapi from '@hapi/hapi';
import { isSigned, port } from './start.mjs';

const server = Hapi.server({ port, host: '127.0.0.1' });
server.route({
  method: 'POST',
  path: '/hooks',
  options: { payload: { output: 'data', parse: false } },
  handler: (request, h) => {
    if (!isSigned(request.payload, request.headers['x-service-signature'])) return h.response().code(401);
    JSON.parse(request.payload.toString());
    return h.response('ok');
  },
});
await server.start();
