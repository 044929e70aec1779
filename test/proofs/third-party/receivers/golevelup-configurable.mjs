import webhooks from '@golevelup/nestjs-webhooks';
import { RequestMethod } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { rootModule } from './nestjs.mjs';
import { port } from './start.mjs';

const routes = [{ method: RequestMethod.ALL, path: 'hooks' }];
const app = await NestFactory.create(
  rootModule((req) => req.rawBody, {
    imports: [webhooks.WebhooksModule.forRoot({ requestRawBodyProperty: 'rawBody' })],
    configure: (consumer) => webhooks.applyConfigurableRawBodyWebhookMiddleware(consumer, routes),
  }),
  { bodyParser: false, logger: false },
);
await app.listen(port);
