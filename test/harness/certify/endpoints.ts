/** HTTPS receivers on loopback with their own CA, and short runs against them. */
import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { makeCertificate } from '../../../certs/index.ts';
import { type CertificationRun, certificationRun, type Revision } from '../../../harness/certify/index.ts';
import type { Partner } from '../../../harness/partner.ts';
import type { RunOptions } from '../../../harness/run/index.ts';
import { FAULTS, startFaultyReceiver } from '../../../mutants/index.ts';
import { startReceiver } from '../../../receiver/index.ts';
import { CATALOGUE } from '../../../scenarios/index.ts';

export const SECRET = randomBytes(24).toString('base64');
export const authority = await makeCertificate({ subject: 'CN=Test CA', authority: true });
const serverCertificate = () =>
  makeCertificate({ subject: 'CN=localhost', issuer: authority, hosts: ['localhost'], usages: ['serverAuth'] });
export const server = await serverCertificate();
/** A certificate of the same CA with another key. */
export const otherServer = await serverCertificate();
/** The CA that the run trusts, as with `--ca`. */
export const TLS = { ca: authority.cert };

/** The checks of the short runs. */
export const CHECKS = [
  'valid/plain',
  'valid/unknown-caas-type',
  'tls/trusted-authority',
  'signature/missing',
  'signature/other-secret',
  'signature/first-character-changed',
  'raw-body/spaces',
];

export const revision: Revision = {
  number: 1,
  digest: 'ab'.repeat(32),
  made: '2026-01-01',
  scored: new Set(CHECKS),
};

const ALL = CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => id));

/** Starts the reference receiver or a faulty one, until the end of the test. */
export async function receiver(fault?: string) {
  const options = {
    signing: { secrets: [SECRET] },
    tls: { cert: server.cert, key: server.key },
    host: '127.0.0.1',
    port: 0,
  };
  const found = FAULTS.find(({ name }) => name === fault);
  if (fault !== undefined && found === undefined) throw new Error(`no fault ${fault}`);
  const running = found === undefined ? await startReceiver(options) : await startFaultyReceiver(found, options);
  onTestFinished(() => running.close());
  const { port } = new URL(running.url);
  return {
    running,
    partner: { url: `https://localhost:${port}/hooks`, signing: { secret: SECRET }, tls: TLS } as Partner,
  };
}

/** Performs a certification run of a few checks. */
export function shortRun(
  partner: Partner,
  given: Partial<RunOptions> = {},
  trust: Parameters<typeof certificationRun>[1] = {},
): Promise<CertificationRun> {
  const scenarios = (given.selection?.scenarios ?? CHECKS).filter((id) => ALL.includes(id));
  return certificationRun(
    { partner, profile: 'staging', revision, limits: { concurrency: 1 }, ...given, selection: { scenarios } },
    trust,
  );
}
