import { bodyParser } from '@koa/bodyparser';
import Koa from 'koa';
import { isSigned, port } from './start.mjs';

const app = new Koa();
app.use(bodyParser());
app.use((ctx) => {
  if (!isSigned(ctx.request.rawBody, ctx.get('X-Service-Signature'))) ctx.throw(401);
  ctx.status = 200;
});
app.listen(port);
