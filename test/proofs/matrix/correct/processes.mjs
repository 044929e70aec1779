/** A right receiver of three processes that share a port. Secret and key are in the environment; prints its port. */
import cluster from 'node:cluster';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { HOOKPROOF_SECRET: secret, HOOKPROOF_API_KEY: apiKey } = process.env;

function same(given = '', due) {
  const [a, b] = [Buffer.from(given), Buffer.from(due)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function isObject(body) {
  try {
    return JSON.parse(body)?.id !== undefined;
  } catch {
    return false;
  }
}

if (cluster.isPrimary) {
  for (let at = 0; at < 3; at++) cluster.fork();
  let listening = 0;
  cluster.on('listening', (_worker, { port }) => {
    if (++listening === 3) process.stdout.write(`${port}\n`);
  });
} else {
  createServer((req, res) => {
    const chunks = [];
    req.on('error', () => {});
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks);
      const signed = same(
        req.headers['x-service-signature'],
        createHmac('sha256', secret).update(body).digest('base64'),
      );
      const keyed = same(req.headers['x-api-key'], apiKey);
      if (req.method !== 'POST') res.statusCode = 405;
      else if (!signed || !keyed) res.statusCode = 401;
      else res.statusCode = isObject(body) ? 200 : 400;
      res.end(`worker ${process.pid}`);
    });
  }).listen(0, '127.0.0.1');
}
