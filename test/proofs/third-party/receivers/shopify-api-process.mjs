import { DeliveryMethod } from '@shopify/shopify-api';
import express from 'express';
import { shopify } from './shopify-api.mjs';
import { port } from './start.mjs';

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
