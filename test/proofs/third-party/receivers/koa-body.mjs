import Koa from 'koa';
import { koaBody } from 'koa-body';
import { isSigned, port } from './start.mjs';

const app = new Koa();
app.use(koaBody({ includeUnparsed: true }));
app.use((ctx) => {
  if (ctx.method !== 'POST' || ctx.path !== '/hooks') return;
  if (!isSigned(ctx.request.rawBody ?? '', ctx.get('X-Service-Signature'))) ctx.throw(401, 'Invalid signature');
  ctx.body = { received: true };
});
app.listen(port);
