/**
 * Receivers over HTTPS with mutual TLS: other versions, HTTP/2 in addition to HTTP/1.1, a later check of the client.
 */
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import type { TLSSocket, TlsOptions } from 'node:tls';
import {
  type CorrectOptions,
  type CorrectReceiver,
  idOf,
  listenOn,
  sameText,
  signatureOf,
  statusOf,
} from './correct-receiver.ts';

function tlsOptions({ tls }: CorrectOptions): TlsOptions {
  if (tls === undefined) throw new Error('this receiver needs TLS material');
  return { cert: tls.cert, key: tls.key, ca: tls.clientCa, requestCert: true, minVersion: 'TLSv1.2' };
}

/** Returns whether this is the accepted client. A resumed session may be authorized without a certificate. */
function isClient(socket: TLSSocket, { tls }: CorrectOptions): boolean {
  return socket.authorized && socket.getPeerCertificate()?.subject?.CN === tls?.clientName;
}

/**
 * Creates a receiver on node:https that rejects unknown clients in the handshake, and other clients of the CA with 403.
 */
function https(name: string, title: string, changes: TlsOptions, refusal = 403): CorrectReceiver {
  return {
    name,
    title,
    tls: true,
    start: (options) =>
      listenOn(
        createServer({ ...tlsOptions(options), ...changes }, (req, res) => {
          const known = isClient(req.socket as TLSSocket, options);
          statusOf(req, options).then(
            (status) => res.writeHead(known ? status : refusal).end(),
            () => res.destroy(),
          );
        }),
        'https',
      ),
  };
}

export const overTls: readonly CorrectReceiver[] = [
  https('https', 'node:https that refuses unknown clients in the handshake, and other clients with 403.', {}),
  https('https-1-2', 'node:https with TLS 1.2 only.', { maxVersion: 'TLSv1.2' }),
  https('https-1-3', 'node:https with TLS 1.3 only.', { minVersion: 'TLSv1.3' }),
  https(
    'https-401',
    'node:https that accepts every handshake and answers 401 to unknown clients.',
    { rejectUnauthorized: false },
    401,
  ),
  {
    name: 'http2-capable',
    title: 'node:http2 that also speaks HTTP/1.1, with the same code for both.',
    tls: true,
    start: (options) => {
      const { secret, apiKey } = options;
      const server = createSecureServer({ ...tlsOptions(options), allowHTTP1: true }, async (req, res) => {
        try {
          const chunks: Buffer[] = [];
          for await (const chunk of req) chunks.push(chunk as Buffer);
          const body = Buffer.concat(chunks);
          const signed = sameText(String(req.headers['x-service-signature']), signatureOf(body, secret));
          const keyed = sameText(String(req.headers['x-api-key']), apiKey);
          if (req.method !== 'POST') res.writeHead(405, { allow: 'POST' });
          else if (!signed || !keyed || !isClient(req.socket as TLSSocket, options)) res.writeHead(401);
          else res.writeHead(idOf(body) === undefined ? 400 : 200);
          res.end();
        } catch {
          res.stream?.destroy();
          req.socket?.destroy();
        }
      });
      return listenOn(server, 'https');
    },
  },
];
