import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { certificateFacts } from '../../../certs/index.ts';
import { issueCertificate, refusalsAfter, refusalsBefore, verifyCertificate } from '../../../harness/certify/index.ts';
import { featuresOf } from '../../../harness/run/plan.ts';
import { hmacOf, verifying } from '../../endpoints/verifying.ts';
import { keyPair, options } from './certificates.ts';
import { authority, CHECKS, otherServer, receiver, revision, SECRET, server, shortRun, TLS } from './endpoints.ts';

type Run = Awaited<ReturnType<typeof shortRun>>;
const codes = (run: Run) => refusalsAfter(run, revision).map(({ code }) => code);
const keyOf = ({ cert }: { cert: string }) =>
  certificateFacts(Buffer.from(cert.replace(/-----[^-]+-----|\s/g, ''), 'base64')).keyFingerprint;

/** Starts a correct receiver on a server that the test controls. A status that `onRequest` returns is the answer. */
async function startReceiverWith(onRequest: (request: number, https: Server) => number | null) {
  const verify = verifying((body) => hmacOf(SECRET, body).toString('base64'));
  let requests = 0;
  const https = createServer({ cert: server.cert, key: server.key }, (request, response) => {
    requests += 1;
    const status = onRequest(requests, https);
    if (status === null) verify(request, response);
    else request.resume().on('end', () => response.writeHead(status).end());
  });
  await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    https.closeAllConnections();
    https.close();
  });
  const { port } = https.address() as AddressInfo;
  return { url: `https://localhost:${port}/hooks`, signing: { secret: SECRET }, tls: TLS };
}

describe('a certification run', () => {
  it('of a correct receiver leads to a valid certificate', async () => {
    const { partner } = await receiver();
    const run = await shortRun(partner);
    expect(codes(run)).toEqual([]);
    expect(run.identities.length).toBeGreaterThanOrEqual(CHECKS.length);
    expect(new Set(run.identities.map((identity) => identity?.leafKey))).toEqual(new Set([keyOf(server)]));

    const { privateKey, publicKey } = keyPair();
    const documentBytes = Buffer.from(JSON.stringify(run.document));
    const certificate = issueCertificate({
      document: run.document,
      documentBytes,
      url: partner.url,
      leafKey: run.identities[0]!.leafKey,
      trust: 'configured',
      configurationBytes: Buffer.from('{}'),
      issuedAt: run.clock.endedAt,
      validForMs: 1000,
      privateKey,
    });
    const { valid, statement } = verifyCertificate(
      Buffer.from(certificate),
      options(publicKey, { at: run.clock.endedAt, result: documentBytes, url: partner.url, profile: 'staging' }),
    );
    expect({ valid, passed: statement?.predicate.passedTests.toSorted() }).toEqual({
      valid: true,
      passed: CHECKS.toSorted(),
    });
  });

  it.each<[string, string, string[], string]>([
    ['fails a scored check', 'verifies-reserialised-json', ['failed'], 'nonconformant'],
    ['only warns', 'closes-the-list-of-caas-types', [], 'conformant'],
  ])('of a receiver that %s', async (_, fault, expected, verdict) => {
    const { partner } = await receiver(fault);
    const run = await shortRun(partner);
    expect([codes(run), run.document.verdict]).toEqual([expected, verdict]);
  });

  it('of a receiver that fails an unscored check passes, and reports the check', async () => {
    const { partner } = await receiver('verifies-reserialised-json');
    const scored = new Set(CHECKS.filter((id) => id !== 'raw-body/spaces'));
    const run = await shortRun(partner, { revision: { ...revision, scored }, bail: true });
    expect(run.document).toMatchObject({
      verdict: 'conformant',
      interrupted: false,
      counts: { fail: 1 },
      scoring: { notScored: ['raw-body/spaces'] },
    });
    expect(refusalsAfter(run, { ...revision, scored })).toEqual([]);
  });

  it('is refused if it is interrupted', async () => {
    const { partner } = await receiver();
    const run = await shortRun(partner, { signal: AbortSignal.abort() });
    expect(codes(run)).toEqual(['interrupted', 'not-judged', 'endpoint-key-unknown']);
  });

  it('is refused if the endpoint changes its key', async () => {
    const partner = await startReceiverWith((request, https) => {
      if (request === 6) https.setSecureContext({ cert: otherServer.cert, key: otherServer.key });
      return null;
    });
    const run = await shortRun(partner);
    expect(codes(run)).toEqual(['endpoint-key-changed']);
    expect(new Set(run.identities.map((identity) => identity?.leafKey))).toEqual(
      new Set([keyOf(server), keyOf(otherServer)]),
    );
  });

  it('is refused if a check passes only on the second attempt', async () => {
    // The control after the first forgery gets a 502 and is accepted when it is repeated.
    const partner = await startReceiverWith((request) => (request === 3 ? 502 : null));
    const run = await shortRun(partner, { selection: { scenarios: ['valid/plain', 'signature/other-secret'] } });
    const scored = new Set(['valid/plain', 'signature/other-secret']);
    expect(run.document).toMatchObject({ verdict: 'conformant', retried: ['signature/other-secret'] });
    expect(refusalsAfter(run, { ...revision, scored }).map(({ code }) => code)).toEqual(['retried']);
  });

  it('is refused if the endpoint is down', async () => {
    const { partner, running } = await receiver();
    await running.close();
    const run = await shortRun(partner);
    expect(codes(run)).toEqual(['not-judged', 'endpoint-key-unknown']);
  });
});

describe('the profile production', () => {
  const asked = (partner: Parameters<typeof featuresOf>[0] & { tls?: object }) =>
    refusalsBefore({
      profile: 'production',
      features: featuresOf(partner),
      selected: [],
      shard: false,
      bail: false,
      baseline: false,
      extraCa: partner.tls !== undefined,
      evidenceLevel: 0,
      environment: {},
    }).map(({ code }) => code);

  it('certifies a chain that ends at a public CA', async () => {
    const { partner: withCa } = await receiver();
    const { tls: _, ...partner } = withCa;
    expect([asked(partner), asked(withCa)]).toEqual([[], ['extra-authority']]);
    // The CA of the test replaces the public CAs, which no command can do.
    const run = await shortRun(partner, { profile: 'production' }, { publicRoots: [authority.cert] });
    expect([codes(run), run.document.profile]).toEqual([[], 'production']);
    expect(run.identities.map((identity) => identity?.publiclyTrusted)).not.toContain(false);
  });

  it('refuses a chain that ends at a private CA, although the run trusts it', async () => {
    const { partner } = await receiver();
    const run = await shortRun(partner, { profile: 'production' });
    expect([codes(run), run.document.verdict]).toEqual([['not-publicly-trusted'], 'conformant']);
  });

  it('refuses a chain that ends at an untrusted CA', async () => {
    const { partner } = await receiver();
    const { tls: _, ...untrusting } = partner;
    const run = await shortRun(untrusting, { profile: 'production' });
    expect(codes(run)).toEqual(['failed', 'not-judged', 'not-publicly-trusted']);
  });
});
