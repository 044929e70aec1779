import { describe, expect, it } from 'vitest';
import { SERVER_FIXTURE_NAMES, serverFixture } from '../../../certs/index.ts';
import { examineWith, found, problems, sectionOf } from './examining.ts';
import { tlsServer } from './servers.ts';

/** Faults that are not problems. The suite `tls` treats them in the same way. */
const NO_PROBLEM = ['expires-soon', 'misordered', 'duplicate', 'unrelated', 'root-sent'];

/** Fixtures that some versions of OpenSSL do not load at the default security level. */
const NEEDS_LEVEL_0: readonly string[] = ['sha1', 'rsa1024', 'weak-intermediate'];

describe('the certificate of a server', () => {
  it.each(SERVER_FIXTURE_NAMES)('%s has a finding for its fault, or no problem', async (name) => {
    const { cert, key, ca, host, fault } = await serverFixture(name);
    const port = await tlsServer({
      cert,
      key,
      ...(NEEDS_LEVEL_0.includes(name) ? { ciphers: 'DEFAULT@SECLEVEL=0' } : {}),
    });
    const document = await examineWith(`https://${host}:${port}/`, { env: { HOOKPROOF_CA: ca } });
    const tls = sectionOf(document, 'tls');
    if (fault === null) {
      expect([problems(document, 'tls'), problems(document)]).toEqual([[], []]);
      expect(tls.facts?.trusted).toBe(true);
    } else {
      const [main] = tls.findings.filter(({ code }) => code === fault);
      expect(main).toMatchObject({ code: fault, fix: expect.stringMatching(/\w{3}.*\./) });
      expect(main?.severity === 'problem').toBe(!NO_PROBLEM.includes(fault));
      expect(found(document, 'tls').filter((one) => one.startsWith('problem'))).toEqual(
        NO_PROBLEM.includes(fault) ? [] : expect.arrayContaining([`problem ${fault}`]),
      );
    }
    // HTTP is also probed without a trusted certificate.
    expect(sectionOf(document, 'http').facts).toMatchObject({ answer: { status: 200 }, verified: tls.facts?.trusted });
    expect(document.reached).toBe(true);
  });

  it.each(['expired', 'unknown-authority', 'wrong-host'] as const)('%s explains a failed delivery', async (name) => {
    const { cert, key, ca, fault } = await serverFixture(name);
    const bodies: string[] = [];
    const port = await tlsServer({ cert, key }, (request, response) => {
      bodies.push(request.method ?? '');
      response.end();
    });
    const document = await examineWith(`https://localhost:${port}/`, { env: { HOOKPROOF_CA: ca }, deliver: true });
    expect(problems(document, 'delivery')).toEqual([`problem certificate-${fault}`]);
    expect(bodies).toEqual(['OPTIONS']);
  });
});
