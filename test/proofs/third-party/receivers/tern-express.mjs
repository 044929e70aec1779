import ternExpress from '@hookflo/tern/express';
import express from 'express';
import { port, secret } from './start.mjs';

const app = express();
app.post('/hooks', ternExpress.createWebhookMiddleware({ platform: 'shopify', secret }), (req, res) =>
  res.json({ received: true, id: req.webhook.payload.id }),
);
app.listen(port);
