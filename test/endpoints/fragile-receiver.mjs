// A receiver that verifies correctly but parses without a guard: one bad payload ends the process. Tests run it as a
// separate process. Argument: port. Environment: HOOKPROOF_SECRET.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const expected = createHmac('sha256', process.env.HOOKPROOF_SECRET).update(body).digest('base64');
  const valid = request.headers['x-service-signature'] === expected;
  const { id } = valid ? JSON.parse(body.toString()) : { id: '' };
  response.writeHead(valid ? (id === undefined ? 400 : 200) : 401).end();
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log(server.address().port));
