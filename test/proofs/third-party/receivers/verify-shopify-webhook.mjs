import express from 'express';
import verifyShopifyWebhook from 'verify-shopify-webhook';
import { port, secret } from './start.mjs';

const app = express();
app.post(
  '/hooks',
  async (req, res, next) => {
    const { verified, body } = await verifyShopifyWebhook.default(req, secret);
    if (!verified) return res.status(403).send();
    req.body = body;
    next();
  },
  (_req, res) => res.sendStatus(200),
);
app.listen(port);
