import '@shopify/shopify-api/adapters/node';
import { DeliveryMethod, LogSeverity, shopifyApi } from '@shopify/shopify-api';
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
shopify.webhooks.addHandlers({
  ORDERS_CREATE: {
    deliveryMethod: DeliveryMethod.Http,
    callbackUrl: '/hooks',
    callback: async (_topic, _shop, body) => {
      JSON.parse(body);
    },
  },
});

const app = express();
app.post('/hooks', express.text({ type: '*/*' }), async (req, res) => {
  try {
    await shopify.webhooks.process({ rawBody: req.body, rawRequest: req, rawResponse: res });
  } catch (error) {
    console.log(error.message);
  }
});
app.listen(port);
