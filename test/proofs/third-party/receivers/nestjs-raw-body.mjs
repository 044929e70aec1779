import { NestFactory } from '@nestjs/core';
import { rootModule } from './nestjs.mjs';
import { port } from './start.mjs';

const app = await NestFactory.create(
  rootModule((req) => req.rawBody),
  { rawBody: true, logger: false },
);
await app.listen(port);
