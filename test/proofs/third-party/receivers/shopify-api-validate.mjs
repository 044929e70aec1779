import express from 'express';
import { shopify } from './shopify-api.mjs';
import { port } from './start.mjs';

const app = express();
app.post('/hooks', express.text({ type: '*/*' }), async (req, res) => {
  const { valid } = await shopify.webhooks.validate({ rawBody: req.body, rawRequest: req, rawResponse: res });
  if (!valid) return res.status(400).send();
  res.status(200).send();
});
app.listen(port);
