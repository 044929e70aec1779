import { receiveWebhook } from '@shopify/koa-shopify-webhooks';
import Koa from 'koa';
import { port, secret } from './start.mjs';

const app = new Koa();
app.use(
  receiveWebhook({
    path: '/hooks',
    secret,
    onReceived: (ctx) => console.log(ctx.state.webhook.topic),
  }),
);
app.listen(port);
