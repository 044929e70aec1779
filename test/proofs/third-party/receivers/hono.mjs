import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { apiKey, isSigned, port } from './start.mjs';

const app = new Hono();
app.post('/hooks', async (c) => {
  const body = await c.req.text();
  if (c.req.header('X-API-Key') !== apiKey) return c.json({ error: 'unauthorized' }, 401);
  if (!isSigned(body, c.req.header('X-Service-Signature'))) return c.json({ error: 'invalid signature' }, 401);
  JSON.parse(body);
  return c.json({ received: true });
});
serve({ fetch: app.fetch, port });
