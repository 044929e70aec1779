/** What every receiver of the matrix is served and delivered to with: credentials, and certificates that are made once in a process. */
import { randomBytes } from 'node:crypto';
import { makeWorkingSet, type ServerFixtureName, serverFixture, WORKING_SET_FIXTURES } from '../../certs/index.ts';
import type { ClientFixtures } from '../../harness/probe/identities.ts';

export const CLIENT_NAME = 'matrix client';

export interface Material {
  readonly secret: string;
  readonly apiKey: string;
  readonly pem: (name: string) => string;
  readonly clientFixtures: ClientFixtures;
  /** A server certificate that is faulty in a known way; made when it is asked for. */
  readonly faulty: (name: string) => Promise<ServedCertificate>;
}

export interface ServedCertificate {
  readonly cert: string;
  readonly key: string;
  /** What a client has to trust. */
  readonly ca: string;
  readonly host: string;
}

export async function makeMaterial(): Promise<Material> {
  const { files } = await makeWorkingSet({
    directory: '.',
    hosts: ['localhost'],
    days: 60,
    key: 'p256',
    clientName: CLIENT_NAME,
    keepCaKeys: false,
  });
  const texts = new Map(files.map(({ name, text }) => [name, text]));
  const pem = (name: string) => texts.get(name) ?? '';
  const fixtures = WORKING_SET_FIXTURES.map((name) => [
    name,
    { cert: pem(`fixtures/client-${name}.pem`), key: pem(`fixtures/client-${name}-key.pem`) },
  ]);
  return {
    secret: randomBytes(32).toString('base64'),
    apiKey: randomBytes(24).toString('base64url'),
    pem,
    clientFixtures: Object.fromEntries(fixtures),
    faulty: (name) => serverFixture(name as ServerFixtureName),
  };
}

/** The certificate that the right receiver shows. */
export function rightCertificate({ pem }: Material): ServedCertificate {
  return { cert: pem('server.pem'), key: pem('server-key.pem'), ca: pem('ca.pem'), host: 'localhost' };
}
