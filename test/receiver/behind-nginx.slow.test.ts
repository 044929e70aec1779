/** The nginx configuration in receiver/README.md, with a real nginx. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { lacks, pathOf } from '../setup/programs.ts';
import { SECRET } from './deliveries.ts';
import { deliver, makeCertificates, only, presenting, VERSIONS } from './tls-clients.ts';

const CONFIGURATIONS: Readonly<Record<string, string>> = {
  optional: 'ssl_verify_client optional; proxy_set_header X-SSL-Client-Verify $ssl_client_verify;',
  on: 'ssl_verify_client on; proxy_set_header X-SSL-Client-Verify $ssl_client_verify;',
  // Without mutual TLS, nginx omits the header, even a forged one.
  off: 'proxy_set_header X-SSL-Client-Verify $ssl_client_verify;',
};

describe.skipIf(lacks('nginx'))('behind nginx', () => {
  let folder = '';
  let receiver: RunningReceiver;
  let nginx: ChildProcess | undefined;
  let certificates: Awaited<ReturnType<typeof makeCertificates>>;
  const socketOf = (name: string) => join(folder, `${name}.sock`);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
    certificates = await makeCertificates();
    receiver = await startReceiver({
      signing: { secrets: [SECRET] },
      clientCertificate: { from: 'proxy', proxies: ['127.0.0.1'], header: 'X-SSL-Client-Verify', value: 'SUCCESS' },
    });
    await writeFile(join(folder, 'server.pem'), certificates.server.cert);
    await writeFile(join(folder, 'server.key'), certificates.server.key);
    await writeFile(join(folder, 'clients.pem'), certificates.clientCa.cert);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/t;`);
    const servers = Object.entries(CONFIGURATIONS).map(
      ([name, lines]) => `server {
        listen unix:${socketOf(name)} ssl; ssl_protocols TLSv1.2 TLSv1.3;
        ssl_certificate server.pem; ssl_certificate_key server.key; ssl_client_certificate clients.pem;
        ${lines}
        location / { proxy_pass http://127.0.0.1:${receiver.port}; }
      }`,
    );
    await writeFile(
      join(folder, 'nginx.conf'),
      `daemon off; master_process off; pid nginx.pid; error_log stderr crit;
      events {} http { access_log off; ${paths.join(' ')} ${servers.join('\n')} }`,
    );
    nginx = spawn(pathOf('nginx') ?? 'nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const exited = once(nginx, 'exit').then(([code]) => Promise.reject(new Error(`nginx ended: ${code}`)));
    await Promise.race([exited, listening(socketOf('off'))]);
    exited.catch(() => {});
  });
  afterAll(async () => {
    const exited = nginx && once(nginx, 'exit');
    nginx?.kill();
    await exited;
    await receiver?.close();
    await rm(folder, { recursive: true });
  });

  it.each(Object.keys(CONFIGURATIONS))(
    'accepts valid certificates only, whatever headers are forged: ssl_verify_client %s',
    async (name) => {
      const { trust, clients } = certificates;
      const at = { path: socketOf(name), servername: 'localhost', ...trust };
      const { valid, expired, 'self-signed': selfSigned } = clients;
      const verified = [
        ['X-SSL-Client-Verify', 'SUCCESS'],
        ['x-ssl-client-verify', 'SUCCESS'],
        ['X_SSL_Client_Verify', 'SUCCESS'],
      ] as const;
      // nginx itself answers 400 to a certificate that does not verify and, with `on`, to a missing one.
      const none = name === 'on' ? 400 : 401;
      const wrong = name === 'off' ? 401 : 400;
      for (const version of VERSIONS) {
        for (const forged of [[], verified]) {
          const statuses = [];
          for (const client of [undefined, valid, expired, selfSigned]) {
            const options = { ...at, ...only(version), ...(client && presenting(client)) };
            statuses.push((await deliver(0, options, forged)).status);
          }
          expect([version, ...statuses]).toEqual([version, none, name === 'off' ? 401 : 200, wrong, wrong]);
        }
      }
    },
  );
});

/** Resolves when a process listens on a socket. There is no event for this, so it tries repeatedly. */
async function listening(path: string): Promise<void> {
  for (;;) {
    const socket = connect(path);
    const accepted = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (accepted) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
