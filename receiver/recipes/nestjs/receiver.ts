/**
 * Receives signed notifications with NestJS: verifies the raw body, appends it to a journal on disk, answers 200.
 * Start it with `npm install` once and `npx tsx receiver.ts`. Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least
 * one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
 * One process only: the known ids are in memory. For several, use a database with a unique key on the id.
 */
import 'reflect-metadata';
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { constants, open } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import * as nest from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';

const { WEBHOOK_SECRET, WEBHOOK_API_KEY, HOST = '127.0.0.1', PORT = '3000' } = process.env;
if (!WEBHOOK_SECRET && !WEBHOOK_API_KEY) {
  console.error('Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.');
  process.exit(1);
}
const journal = await openJournal(process.env.WEBHOOK_JOURNAL ?? 'journal.ndjson');

class CredentialsGuard implements nest.CanActivate {
  canActivate(context: nest.ExecutionContext): boolean {
    const { headers, body } = context.switchToHttp().getRequest();
    if (!isAuthentic(headers, body ?? Buffer.alloc(0))) throw new nest.UnauthorizedException();
    return true;
  }
}

@nest.Controller('hooks')
class HooksController {
  @nest.Post()
  @nest.HttpCode(200)
  @nest.UseGuards(CredentialsGuard)
  async receive(@nest.Body() rawBody = Buffer.alloc(0)) {
    const id = notificationId(rawBody);
    if (id === null) throw new nest.BadRequestException('not a notification');
    await journal.store(id, rawBody).catch((error) => {
      console.error(error);
      throw new nest.ServiceUnavailableException('not stored'); // The sender may deliver it again.
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

// Not `rawBody: true`, which also parses, and so answers 400 to a body before the guard sees it.
const app = await NestFactory.create<NestExpressApplication>(AppModule, { bodyParser: false, logger: ['error'] });
app.useBodyParser('raw', { type: () => true, inflate: false, limit: '1mb' });
app.disable('x-powered-by');
await app.listen(Number(PORT), HOST);
console.log(`listening on http://${HOST}:${PORT}/hooks`);

function isAuthentic(headers: IncomingHttpHeaders, rawBody: Buffer): boolean {
  // Node joins repeated headers with a comma, so they never match.
  const isKeyValid = !WEBHOOK_API_KEY || isSame(headers['x-api-key'], WEBHOOK_API_KEY);
  const signature = () =>
    createHmac('sha256', WEBHOOK_SECRET ?? '')
      .update(rawBody)
      .digest('base64');
  return isKeyValid && (!WEBHOOK_SECRET || isSame(headers['x-service-signature'], signature()));
}

/** Compares digests: in constant time, whatever the lengths. */
function isSame(received: string | string[] = '', expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(String(received)), digest(expected));
}

/** The id of a notification; null when the body is not one. Unknown types and fields are accepted. */
function notificationId(rawBody: Buffer): string | null {
  try {
    // Strict UTF-8; a byte order mark stays in the text, where JSON does not allow it.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
    const { id, type, data } = JSON.parse(text);
    const isNotification = typeof type === 'string' && typeof data === 'object' && data !== null;
    return isNotification && /^[^\p{Cc}]{1,200}$/u.test(id) && typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

/** A file with one line of JSON per notification, each of them on disk before `store` resolves. */
async function openJournal(path: string) {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT);
  const content = await file.readFile();
  let size = content.lastIndexOf('\n') + 1;
  await file.truncate(size); // The process was killed while it wrote the last line.
  const lines = content.toString('utf8', 0, size).split('\n').slice(0, -1);
  const stored = new Map<string, Promise<void>>(lines.map((line) => [JSON.parse(line).id, Promise.resolve()]));
  let last = Promise.resolve();

  async function append(id: string, rawBody: Buffer) {
    const line = Buffer.from(`${JSON.stringify({ id, receivedAt: new Date(), body: rawBody.toString() })}\n`);
    try {
      for (let at = 0; at < line.length; ) at += (await file.write(line, at, line.length - at, size + at)).bytesWritten;
      await file.sync();
      size += line.length;
    } catch (error) {
      stored.delete(id);
      await file.truncate(size);
      throw error;
    }
  }
  return {
    /** Writes one line at a time. A copy waits for the line of the first delivery, and adds none. */
    store(id: string, rawBody: Buffer): Promise<void> {
      if (!stored.has(id)) {
        last = last.catch(() => {}).then(() => append(id, rawBody));
        stored.set(id, last);
      }
      return stored.get(id) ?? last;
    },
  };
}
