/**
 * Receives signed notifications with NestJS: verifies the raw body, appends it to a journal on disk, and answers 200.
 * Start it with `npm install` once and `npx tsx receiver.ts`. Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least
 * one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
 * Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
 */
import 'reflect-metadata';
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import * as nest from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { openJournal } from './journal.mjs';
import { limitServer, notificationId, readBody } from './request.mjs';

const { WEBHOOK_SECRET, WEBHOOK_API_KEY, HOST = '127.0.0.1', PORT = '3000' } = process.env;
if (!WEBHOOK_SECRET && !WEBHOOK_API_KEY) {
  console.error('Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.');
  process.exit(1);
}
// During a rotation, the previous secret is also valid.
const secrets = [WEBHOOK_SECRET, process.env.WEBHOOK_PREVIOUS_SECRET].filter((one) => one !== undefined && one !== '');
const journal = await openJournal(process.env.WEBHOOK_JOURNAL ?? 'journal.ndjson').catch(({ message }: Error) => {
  console.error(message);
  process.exit(1);
});

class CredentialsGuard implements nest.CanActivate {
  async canActivate(context: nest.ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest();
    request.body = await readBody(request);
    if (request.body === null) {
      context.switchToHttp().getResponse().set('Connection', 'close');
      throw new nest.PayloadTooLargeException();
    }
    if (!isAuthentic(request.headers, request.body)) throw new nest.UnauthorizedException();
    const isCompressed = (request.headers['content-encoding'] ?? 'identity') !== 'identity';
    if (isCompressed) throw new nest.UnsupportedMediaTypeException();
    return true;
  }
}

@nest.Controller('hooks')
class HooksController {
  @nest.Post()
  @nest.HttpCode(200)
  @nest.UseGuards(CredentialsGuard)
  async receive(@nest.Body() rawBody: Buffer) {
    const id = notificationId(rawBody);
    if (id === null) throw new nest.BadRequestException('not a notification');
    await journal.store(id, rawBody).catch((error: Error) => {
      console.error(error);
      throw new nest.ServiceUnavailableException('not stored'); // The sender can deliver it again.
    });
    return { ok: true };
  }

  @nest.All()
  refuse() {
    throw new nest.MethodNotAllowedException();
  }
}

@nest.Module({ controllers: [HooksController] })
class AppModule {}

// The guard reads the body. `rawBody: true` would also parse it, and answer 400 before the guard runs.
const app = await NestFactory.create<NestExpressApplication>(AppModule, { bodyParser: false, logger: ['error'] });
app.disable('x-powered-by');
limitServer(app.getHttpServer());
await app.listen(Number(PORT), HOST);
console.log(`listening on http://${HOST}:${PORT}/hooks`);

function isAuthentic(headers: IncomingHttpHeaders, rawBody: Buffer): boolean {
  // Node joins repeated headers with a comma, so they never match.
  const isKeyValid = !WEBHOOK_API_KEY || isSame(headers['x-api-key'], WEBHOOK_API_KEY);
  const signature = (secret: string) => createHmac('sha256', secret).update(rawBody).digest('base64');
  const matches = secrets.map((secret) => isSame(headers['x-service-signature'], signature(secret)));
  return isKeyValid && (secrets.length === 0 || matches.includes(true));
}

/** Compares digests, so that the time does not depend on the lengths. */
function isSame(received: string | string[] = '', expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(String(received)), digest(expected));
}
