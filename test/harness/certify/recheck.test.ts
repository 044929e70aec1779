import { describe, expect, it } from 'vitest';
import { missingFeatures, recheck, verifyCertificate } from '../../../harness/certify/index.ts';
import { issueCertificate } from '../../../harness/certify/issue.ts';
import type { Partner } from '../../../harness/partner.ts';
import { keyPair, options } from './certificates.ts';
import { authority, receiver, shortRun } from './endpoints.ts';

const { privateKey, publicKey } = keyPair();

/** Returns the statement of a certificate for this endpoint, issued with these changes. */
async function certified(partner: Partner, parts: { leafKey?: string; trust?: 'public' } = {}) {
  const { document, identities } = await shortRun(partner);
  const certificate = issueCertificate({
    document,
    documentBytes: Buffer.from(''),
    url: partner.url,
    leafKey: identities[0]!.leafKey,
    trust: 'configured',
    configurationBytes: Buffer.from(''),
    issuedAt: new Date(),
    validForMs: 1000,
    privateKey,
    ...parts,
  });
  return verifyCertificate(Buffer.from(certificate), options(publicKey, { at: new Date() })).statement!;
}
const codes = (found: Awaited<ReturnType<typeof recheck>>) => found.drift.map(({ code, exit }) => [code, exit]);

describe('a recheck', () => {
  it('confirms an unchanged endpoint with a few checks', async () => {
    const { partner } = await receiver();
    const statement = await certified(partner);
    const found = await recheck({ statement, partner });
    expect(codes(found)).toEqual([]);
    expect(found.document.results.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
      'valid/plain pass',
      'tls/trusted-authority pass',
      'signature/missing pass',
      'signature/other-secret pass',
      'signature/first-character-changed pass',
      'raw-body/spaces pass',
    ]);
    expect(found.document.requests).toBeLessThan(20);
  });

  it('reports a changed key and a chain that is no longer public', async () => {
    const { partner } = await receiver();
    const statement = await certified(partner, { leafKey: 'ab'.repeat(32), trust: 'public' });
    expect(codes(await recheck({ statement, partner }))).toEqual([
      ['endpoint-key-changed', 1],
      ['not-publicly-trusted', 1],
    ]);
    const trusted = await recheck({ statement, partner, publicRoots: [authority.cert] });
    expect(codes(trusted)).toEqual([['endpoint-key-changed', 1]]);
  });

  it('reports a receiver that has become faulty', async () => {
    const statement = await certified((await receiver()).partner);
    const { partner } = await receiver('verifies-reserialised-json');
    const found = await recheck({ statement, partner });
    expect(codes(found)).toEqual([['canary-failed', 1]]);
    expect(found.drift[0]?.message).toBe('1 of 6 checks that passed no longer pass: raw-body/spaces');
  });

  it('has no verdict if the endpoint is down or rejects the plain delivery', async () => {
    const { partner, running } = await receiver();
    const statement = await certified(partner);
    const otherSecret = await recheck({ statement, partner: { ...partner, signing: { secret: 'another'.repeat(6) } } });
    expect(codes(otherSecret).map(([code]) => code)).toContain('unreachable');
    await running.close();
    expect(codes(await recheck({ statement, partner }))).toEqual([['unreachable', 3]]);
  });

  it('runs only checks that passed', async () => {
    const { partner } = await receiver('verifies-reserialised-json');
    const statement = await certified(partner);
    const { document } = await recheck({ statement, partner });
    expect(document.results.map(({ id }) => id)).not.toContain('raw-body/spaces');
  });

  it('lists the missing features', async () => {
    const statement = await certified((await receiver()).partner);
    expect(missingFeatures(statement, ['https', 'hmac', 'mtls'])).toEqual([]);
    expect(missingFeatures(statement, ['https'])).toEqual(['hmac']);
  });
});
