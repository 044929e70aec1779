/** What receivers on Node share where it is not their difference: the decision on a delivery, and a server on a free port. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { CorrectOptions, StartedReceiver } from './correct-receiver.ts';

/** Compares in a time that tells nothing, whatever the lengths. */
export function sameText(given: string, due: string): boolean {
  return timingSafeEqual(createHash('sha256').update(given).digest(), createHash('sha256').update(due).digest());
}

export function signatureOf(body: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('base64');
}

/** The value of a header that came exactly once, and the empty text otherwise. `name` is in lower case. */
export function onlyHeader(req: IncomingMessage, name: string): string {
  const values = req.headersDistinct[name] ?? [];
  return values.length === 1 ? (values[0] ?? '') : '';
}

export async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The id of what looks like a notification; undefined for everything else. */
export function idOf(body: Uint8Array): string | undefined {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    const whole = value !== null && typeof value.type === 'string' && typeof value.data === 'object';
    return whole && value.data !== null && typeof value.id === 'string' ? value.id : undefined;
  } catch {
    return undefined;
  }
}

/** Whether both credentials are right for these bytes. */
export function isAuthentic(req: IncomingMessage, body: Uint8Array, { secret, apiKey }: CorrectOptions): boolean {
  const keyed = sameText(onlyHeader(req, 'x-api-key'), apiKey);
  const signed = sameText(onlyHeader(req, 'x-service-signature'), signatureOf(body, secret));
  return keyed && signed;
}

/** The status for a delivery, in the usual order: method, body, credentials, content. */
export async function statusOf(req: IncomingMessage, options: CorrectOptions, malformed = 400): Promise<number> {
  const body = await bodyOf(req);
  if (req.method !== 'POST') return 405;
  if (!isAuthentic(req, body, options)) return 401;
  return idOf(body) === undefined ? malformed : 200;
}

/** Listens on a free port of the loopback interface. */
export async function listenOn(server: Server, scheme: 'http' | 'https' = 'http'): Promise<StartedReceiver> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const host = scheme === 'https' ? 'localhost' : '127.0.0.1';
  return {
    url: `${scheme}://${host}:${(server.address() as AddressInfo).port}/hooks`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
