import webhooks from '@golevelup/nestjs-webhooks';
import { RequestMethod } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { rootModule } from './nestjs.mjs';
import { port } from './start.mjs';

const configure = (consumer) => webhooks.applyRawBodyOnlyTo(consumer, { method: RequestMethod.ALL, path: 'hooks' });
const app = await NestFactory.create(
  rootModule((req) => req.body, { configure }),
  { bodyParser: false, logger: false },
);
await app.listen(port);
