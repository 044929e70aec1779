/** The partners of the proof: reference receivers in containers of the image, one of them faulty and one stopped. */
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PartnerOutcome } from '../../../harness/fleet.ts';
import { freePort } from '../../endpoints/listen.ts';
import { HARDENED, USER } from './hardened.ts';
import type { Podman } from './podman.ts';

interface Kind {
  readonly name: string;
  readonly outcome: PartnerOutcome;
  readonly fault?: string;
  readonly isStopped?: true;
}

export const KINDS: readonly Kind[] = [
  { name: 'acme', outcome: 'certified' },
  { name: 'bolt', outcome: 'certified' },
  { name: 'corto', outcome: 'failed', fault: 'signature-not-checked' },
  { name: 'delta', outcome: 'inconclusive', isStopped: true },
  { name: 'echo', outcome: 'certified' },
];

/** The texts of the partners' ConfigMap, and of the Secret with all their secrets. */
export interface PartnerFiles {
  readonly partners: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Starts the receivers: HTTPS, HMAC, an API key and mutual TLS, which makes four secrets for each partner. */
export async function startPartners(podman: Podman, image: string, folder: string): Promise<PartnerFiles> {
  const material = join(folder, 'material');
  mkdirSync(material);
  chownSync(material, USER, USER);
  const mount = ['--volume', `${material}:/data`];
  await podman.done(['run', '--rm', ...HARDENED, ...mount, image, 'certs', 'certs', '--host', 'localhost']);
  const pem = (name: string) => readFileSync(join(material, 'certs', name), 'utf8');
  const partners: Record<string, string> = { '_defaults.yaml': DEFAULTS, 'ca.pem': pem('ca.pem') };
  const secrets: Record<string, string> = {};
  for (const { name, fault, isStopped } of KINDS) {
    const port = await freePort();
    const own = {
      hmac: randomBytes(32).toString('base64'),
      'api-key': randomBytes(24).toString('base64url'),
      'client-cert': pem('client.pem'),
      'client-key': pem('client-key.pem'),
    };
    for (const [key, text] of Object.entries(own)) secrets[`${name}.${key}`] = text;
    partners[`${name}.yaml`] = settingsOf(name, port);
    if (isStopped) continue;
    for (const key of ['hmac', 'api-key'] as const) {
      const file = join(material, `${name}.${key}`);
      writeFileSync(file, own[key]);
      chownSync(file, USER, USER);
      chmodSync(file, 0o400);
    }
    const options = ['receiver', '--port', String(port), ...(fault === undefined ? [] : ['--fault', fault])];
    const credentials = ['--secret-file', `${name}.hmac`, '--api-key-file', `${name}.api-key`];
    const tls = ['--tls-cert', 'certs/server.pem', '--tls-key', 'certs/server-key.pem'];
    const client = ['--client-ca', 'certs/client-ca.pem'];
    const receiver = [image, ...options, ...credentials, ...tls, ...client];
    await podman.done(['run', '--detach', '--name', `partner-${name}`, ...HARDENED, ...mount, ...receiver]);
  }
  return { partners, secrets };
}

const DEFAULTS = 'profile: staging\ntls:\n  ca: ca.pem\n';

const settingsOf = (name: string, port: number) => `url: https://localhost:${port}/hooks
hmac:
  secret: \${file:../secrets/${name}.hmac}
api-key:
  value: \${file:../secrets/${name}.api-key}
tls:
  client-cert: ../secrets/${name}.client-cert
  client-key: ../secrets/${name}.client-key
recovery: 1s
`;
