/** Shared by the three NestJS receivers: one controller with one handler, without compiled decorators. */
import 'reflect-metadata';
import { Controller, HttpCode, Module, Post, Req, UnauthorizedException } from '@nestjs/common';
import { isSigned } from './start.mjs';

/** A root module whose controller takes the raw body with `rawBodyOf`, and whose `configure` is as given. */
export function rootModule(rawBodyOf, { imports = [], configure = () => {} } = {}) {
  class HooksController {
    receive(req) {
      if (!isSigned(rawBodyOf(req), req.headers['x-service-signature'])) throw new UnauthorizedException();
      return { received: true };
    }
  }
  const handler = Object.getOwnPropertyDescriptor(HooksController.prototype, 'receive');
  Req()(HooksController.prototype, 'receive', 0);
  Post()(HooksController.prototype, 'receive', handler);
  HttpCode(200)(HooksController.prototype, 'receive', handler);
  Controller('hooks')(HooksController);

  class AppModule {
    configure(consumer) {
      configure(consumer);
    }
  }
  Module({ imports, controllers: [HooksController] })(AppModule);
  return AppModule;
}
