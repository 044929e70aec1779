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

/** A plain right receiver on a server that the test holds in its hands. Where `onRequest` gives a status, it is the answer. */
async function handMade(onRequest: (request: number, https: Server) => number | null) {
  const right = verifying((body) => hmacOf(SECRET, body).toString('base64'));
  let requests = 0;
  const https = createServer({ cert: server.cert, key: server.key }, (request, response) => {
    requests += 1;
    const status = onRequest(requests, https);
    if (status === null) right(request, response);
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
  it('leaves nothing to refuse of a right receiver, and a certificate comes of it', async () => {
    const { partner } = await receiver();
    const run = await shortRun(partner);
    expect(codes(run)).toEqual([]);
    expect(run.looks.length).toBeGreaterThanOrEqual(CHECKS.length);
    expect(new Set(run.looks.map((look) => look?.leafKey))).toEqual(new Set([keyOf(server)]));

    const { privateKey, publicKey } = keyPair();
    const documentBytes = Buffer.from(JSON.stringify(run.document));
    const certificate = issueCertificate({
      document: run.document,
      documentBytes,
      url: partner.url,
      leafKey: run.looks[0]!.leafKey,
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

  it('of a receiver that fails a check which is not scored is green, and tells it', async () => {
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

  it('that is interrupted is refused', async () => {
    const { partner } = await receiver();
    const run = await shortRun(partner, { signal: AbortSignal.abort() });
    expect(codes(run)).toEqual(['interrupted', 'not-judged', 'endpoint-key-unknown']);
  });

  it('in which the endpoint takes another key is refused', async () => {
    const partner = await handMade((request, https) => {
      if (request === 6) https.setSecureContext({ cert: otherServer.cert, key: otherServer.key });
      return null;
    });
    const run = await shortRun(partner);
    expect(codes(run)).toEqual(['endpoint-key-changed']);
    expect(new Set(run.looks.map((look) => look?.leafKey))).toEqual(new Set([keyOf(server), keyOf(otherServer)]));
  });

  it('that is green only at the second try is refused', async () => {
    // The first control of the first check gets a 503, and is accepted when it is sent again: it comes and goes.
    const partner = await handMade((request) => (request === 2 ? 503 : null));
    const run = await shortRun(partner, { selection: { scenarios: ['valid/plain', 'signature/missing'] } });
    const scored = new Set(['valid/plain', 'signature/missing']);
    expect(run.document).toMatchObject({ verdict: 'conformant', retried: ['valid/plain'] });
    expect(refusalsAfter(run, { ...revision, scored }).map(({ code }) => code)).toEqual(['retried']);
  });

  it('of an endpoint that is down is refused', async () => {
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
      extraAuthority: partner.tls !== undefined,
      environment: {},
    }).map(({ code }) => code);

  it('certifies a chain that ends at a public authority', async () => {
    const { partner: withAuthority } = await receiver();
    const { tls: _, ...partner } = withAuthority;
    expect([asked(partner), asked(withAuthority)]).toEqual([[], ['extra-authority']]);
    // The authority of the test stands in for the public ones. The command line has no such way.
    const run = await shortRun(partner, { profile: 'production' }, { publicRoots: [authority.cert] });
    expect([codes(run), run.document.profile]).toEqual([[], 'production']);
    expect(run.looks.map((look) => look?.publiclyTrusted)).not.toContain(false);
  });

  it('refuses one that ends at a private authority, although the run trusts it', async () => {
    const { partner } = await receiver();
    const run = await shortRun(partner, { profile: 'production' });
    expect([codes(run), run.document.verdict]).toEqual([['not-publicly-trusted'], 'conformant']);
  });

  it('refuses one that ends at another authority than the public ones', async () => {
    const { partner } = await receiver();
    const { tls: _, ...untrusting } = partner;
    const run = await shortRun(untrusting, { profile: 'production' });
    expect(codes(run)).toEqual(['failed', 'not-judged', 'not-publicly-trusted']);
  });
});
