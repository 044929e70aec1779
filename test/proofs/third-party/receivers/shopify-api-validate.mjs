import '@shopify/shopify-api/adapters/node';
import { LogSeverity, shopifyApi } from '@shopify/shopify-api';
import express from 'express';
import { port, secret } from './start.mjs';

const shopify = shopifyApi({
  apiKey: 'key',
  apiSecretKey: secret,
  apiVersion: '2025-07',
  hostName: 'localhost',
  isEmbeddedApp: false,
  logger: { level: LogSeverity.Error },
});

const app = express();
app.post('/hooks', express.text({ type: '*/*' }), async (req, res) => {
  const { valid } = await shopify.webhooks.validate({ rawBody: req.body, rawRequest: req, rawResponse: res });
  if (!valid) return res.status(400).send();
  res.status(200).send();
});
app.listen(port);
