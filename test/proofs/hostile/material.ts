/** Secrets and certificates for the runs against hostile endpoints, made for the occasion. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeWorkingSet } from '../../../certs/index.ts';

export interface Material {
  readonly secret: string;
  readonly apiKey: string;
  /** Of the server, PEM. */
  readonly cert: string;
  readonly key: string;
  /** A folder for this one purpose; `ca.pem` in it is the authority of the server. */
  readonly folder: string;
  remove(): Promise<void>;
}

export async function makeMaterial(): Promise<Material> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-hostile-'));
  const { files } = await makeWorkingSet({
    directory: '.',
    hosts: ['localhost', '127.0.0.1'],
    days: 30,
    key: 'p256',
    clientName: 'hostile suite',
    keepCaKeys: false,
  });
  const pem = (name: string) => files.find((file) => file.name === name)?.text ?? '';
  await writeFile(join(folder, 'ca.pem'), pem('ca.pem'));
  return {
    secret: randomBytes(32).toString('base64'),
    apiKey: randomBytes(24).toString('base64url'),
    cert: pem('server.pem'),
    key: pem('server-key.pem'),
    folder,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
