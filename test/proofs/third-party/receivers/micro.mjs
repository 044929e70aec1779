import { createServer } from 'node:http';
import { createError, send, serve, text } from 'micro';
import { isSigned, port } from './start.mjs';

async function handler(req, res) {
  const body = await text(req);
  if (!isSigned(body, req.headers['x-service-signature'])) throw createError(401, 'Invalid signature');
  JSON.parse(body);
  send(res, 200);
}
createServer(serve(handler)).listen(port);
