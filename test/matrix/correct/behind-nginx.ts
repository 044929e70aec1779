/** Receivers on bare node:http behind nginx, which reads the request first, and answers by itself what is no HTTP. */
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { runNginx } from '../../proofs/tls-matrix/servers/nginx.ts';
import type { CorrectOptions, CorrectReceiver, StartedReceiver } from './correct-receiver.ts';
import { listenOn, onlyHeader, statusOf } from './delivery.ts';

/** What of the client certificate nginx tells the receiver. Both lines replace what the client may have sent under these names. */
const FORWARDED =
  'proxy_set_header X-SSL-Client-Verify $ssl_client_verify; proxy_set_header X-SSL-Client-DN $ssl_client_s_dn;';

/** The lines of a server block that ends TLS; the files that they name lie in the folder. */
async function tlsLines({ tls }: CorrectOptions, folder: string): Promise<string> {
  if (tls === undefined) return '';
  const files = { 'server.pem': tls.cert, 'server.key': tls.key, 'clients.pem': tls.clientCa };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
  return `ssl_certificate server.pem; ssl_certificate_key server.key; ssl_protocols TLSv1.2 TLSv1.3;
    ssl_client_certificate clients.pem; ssl_verify_client on;`;
}

/** A receiver that takes the word of nginx for who the client is, and nginx in front of it. `listen` follows the port. */
async function start(options: CorrectOptions, listen: string): Promise<StartedReceiver> {
  const { tls } = options;
  const receiver = await listenOn(
    createServer((req, res) => {
      const verified = onlyHeader(req, 'x-ssl-client-verify') === 'SUCCESS';
      const named = onlyHeader(req, 'x-ssl-client-dn').split(',').includes(`CN=${tls?.clientName}`);
      statusOf(req, options).then(
        (status) => res.writeHead(tls === undefined || (verified && named) ? status : 401).end('{}'),
        () => res.destroy(),
      );
    }),
  );
  const nginx = await runNginx(1, async ([port], folder) => {
    const lines = await tlsLines(options, folder);
    return `server { listen 127.0.0.1:${port} ${listen}; ${lines} location / { ${FORWARDED} proxy_pass ${new URL(receiver.url).origin}; } }`;
  });
  return {
    url: `${tls === undefined ? 'http://127.0.0.1' : 'https://localhost'}:${nginx.ports[0]}/hooks`,
    close: async () => {
      await nginx.close();
      await receiver.close();
    },
  };
}

export const behindNginx: readonly CorrectReceiver[] = [
  {
    name: 'behind-nginx',
    title: 'Behind nginx over plain HTTP, with the settings that nginx has by itself.',
    needs: ['nginx'],
    start: (options) => start(options, ''),
  },
  {
    name: 'behind-nginx-tls',
    title: 'Behind nginx that ends mutual TLS, and tells the name of the client in a header.',
    needs: ['nginx'],
    tls: true,
    start: (options) => start(options, 'ssl'),
  },
  {
    name: 'behind-nginx-http-2',
    title: 'Behind nginx that ends mutual TLS and speaks HTTP/2 to those who can.',
    needs: ['nginx'],
    tls: true,
    start: (options) => start(options, 'ssl http2'),
  },
];
