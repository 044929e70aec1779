/** Receivers on bare node:http: the smallest that is right, one that keeps no connection open, one whose answers all differ. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CorrectOptions, CorrectReceiver, StartedReceiver } from './correct-receiver.ts';

const same = (a: string, b: string) =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());

async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

async function statusFor(req: IncomingMessage, { secret, apiKey }: CorrectOptions): Promise<number> {
  const body = await bodyOf(req);
  if (req.method !== 'POST') return 405;
  const once = (name: string) => {
    const values = req.headersDistinct[name] ?? [];
    return values.length === 1 ? (values[0] ?? '') : '';
  };
  const due = createHmac('sha256', secret).update(body).digest('base64');
  if (!same(once('x-api-key'), apiKey) || !same(once('x-service-signature'), due)) return 401;
  return isObject(body.toString('utf8')) ? 200 : 400;
}

async function listen(
  options: CorrectOptions,
  reply: (res: ServerResponse, status: number) => void,
): Promise<StartedReceiver> {
  const server = createServer((req, res) => {
    statusFor(req, options).then(
      (status) => reply(res, status),
      () => res.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const bareNode: readonly CorrectReceiver[] = [
  {
    name: 'node-http',
    title: 'Bare node:http that checks both credentials at once and answers with no body.',
    start: (options) => listen(options, (res, status) => res.writeHead(status, { 'Content-Length': 0 }).end()),
  },
  {
    name: 'connection-close',
    title: 'Ends the connection after each answer.',
    start: (options) => listen(options, (res, status) => res.writeHead(status, { Connection: 'close' }).end('done')),
  },
];
